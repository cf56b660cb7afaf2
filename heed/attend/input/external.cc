// I1 external: general attention, the query comes from outside the source.
#include "heed/attend/all.h"

namespace heed::attend {

const Entry external_entry = {
    .id = "I1",
    .name = "external",
    .part = Part::input,
    .title = "the query comes from outside",
    .formula = "c = attend(q, memory)",
    .paper = "Bahdanau, Cho and Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate",
    .time = "that of the score",
    .memory = "nothing",
    .combines = "any score, normaliser, region and time behaviour",
    .page =
        "The query comes from elsewhere: a decoder state, a question, a partial caption. Queries and memory are used "
        "as they are; nothing is projected unless project is set. The default.",
    .options = "query_width key_width value_width",
    .preset = [](Options& o) { o.input = "external"; },
};

}  // namespace heed::attend
