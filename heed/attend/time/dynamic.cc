// T1 dynamic: a new query every step. The plain case: one run of the loop.
#include "heed/attend/attention.h"

namespace heed::attend {

Attended Time::attend(const Attention& attention, const AttendArguments& asked) const { return attention.run(asked); }

namespace {
std::unique_ptr<Time> make_dynamic(const Scope&, const Options&) { return std::make_unique<Time>(); }
}  // namespace

const Entry dynamic_entry = {
    .id = "T1",
    .name = "dynamic",
    .part = Part::time,
    .title = "a new query every step",
    .formula = "c_t = attend(s_t, memory)",
    .paper = "Bahdanau, Cho and Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate",
    .time = "that of the score",
    .memory = "nothing",
    .combines = "anything",
    .page = "Each step of the target has a new query, and no step remembers what another looked at. The default.",
    .grows_with_memory = true,
    .make_time = make_dynamic,
};

}  // namespace heed::attend
