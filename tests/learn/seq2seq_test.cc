// slow: 50 s
// Sequence to sequence learns: one batch can be learned by heart, and to read backwards is learned with every score.
#include <algorithm>
#include <string>
#include <vector>

#include "heed/attend/all.h"
#include "tests/learn/learner.h"

namespace heed::train::test {
namespace {

class Learns : public testing::TestWithParam<Trial> {};

TEST_P(Learns, ToReadBackwards) {
  Learner learner(GetParam());
  learner.train();
  const Evaluation e = learner.test();
  EXPECT_GE(e.exact.rate(), 0.9) << "loss " << e.nll;
}

/// Every score of the catalogue, but those that cannot know where to look: the place of the last letter differs from
/// source to source, and these look at the query alone, at the key alone, or at neither. In a Transformer the
/// synthesizers are in the self-attention only.
std::vector<Trial> scores() {
  const std::vector<std::string> blind = {"self_scored", "synthesizer_dense", "synthesizer_random"};
  std::vector<Trial> all;
  for (const attend::Entry* entry : attend::all()) {
    if (entry->part != attend::Part::score) continue;
    const bool sees = std::find(blind.begin(), blind.end(), entry->name) == blind.end();
    if (sees && std::string_view(entry->name) != "intra") all.push_back({"rnn", entry->name});
    if (sees || std::string_view(entry->name) != "self_scored")
      all.push_back({"transformer", entry->name, std::string_view(entry->name) == "dot" ? 1500 : 900});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(, Learns, testing::ValuesIn(scores()),
                         [](const auto& info) { return info.param.kind + "_" + info.param.score; });

/// An encoder of one kind and a decoder of another; and self-attention with random weights that stay as they are.
INSTANTIATE_TEST_SUITE_P(
    Mixed, Learns,
    testing::Values(Trial{"rnn", "additive", 900, 3000, {"model.encoder=transformer", "model.norm=pre"}},
                    Trial{"transformer", "scaled_dot", 900, 3000, {"model.encoder=rnn"}},
                    Trial{"transformer", "synthesizer_random", 900, 3000, {"attention.fixed_table=true"}}),
    [](const auto& info) { return info.param.kind + "_decoder_" + info.param.score; });

/// All positions at once: every output digit must find its place in the source by its own position and the length.
INSTANTIATE_TEST_SUITE_P(
    AtOnce, Learns,
    testing::Values(Trial{"transformer", "scaled_dot", 1200, 3000, {"model.decoder=parallel", "model.max_length=16"}},
                    Trial{"transformer",
                          "scaled_dot",
                          1200,
                          3000,
                          {"model.decoder=parallel", "model.length=slots", "model.slots=9"}}),
    [](const auto& info) { return info.param.more.back().starts_with("model.slots") ? "slots" : "classifier"; });

class LearnsByHeart : public testing::TestWithParam<Trial> {};

TEST_P(LearnsByHeart, OneBatch) {
  Learner learner(GetParam());
  EXPECT_LT(learner.train(), 0.01);
}

INSTANTIATE_TEST_SUITE_P(
    , LearnsByHeart,
    testing::Values(Trial{"rnn", "additive", 150, 16}, Trial{"transformer", "scaled_dot", 150, 16},
                    Trial{"rnn", "general", 150, 16, {"model.cell=lstm", "model.input_feeding=true"}},
                    Trial{"transformer", "additive", 150, 16, {"model.norm=post"}}),
    [](const auto& info) { return info.param.kind + "_" + info.param.score; });

}  // namespace
}  // namespace heed::train::test
