// A mechanism of a program's own in the list: found by its names, made by options, refused where it cannot be.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/attend/all.h"
#include "heed/attend/score/score.h"
#include "heed/base/error.h"
#include "heed/tensor/ops.h"

namespace heed::attend::test {
namespace {

/// score = 2 q . k
class Double final : public Score {
 public:
  Double(const Scope&, const Options&) {}
  void configure(CallContext& c) const override {
    c.call.problem.score.kind = kernels::ScoreKind::inner;
    c.call.problem.score.scale = 2.0f;
  }
};

constexpr Entry kDouble = {.id = "own",
                           .name = "double_dot",
                           .part = Part::score,
                           .title = "twice the inner product",
                           .formula = "e_ij = 2 q_i . k_j",
                           .paper = "",
                           .time = "n m D",
                           .memory = "nothing",
                           .combines = "anything",
                           .page = "",
                           .aliases = "twice",
                           .inner_product = true,
                           .make_score = new_score<Double>};

std::string refusal(const Entry& entry) {
  try {
    add(entry);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::vector<float> context_of(const std::string& score, const std::vector<float>& queries) {
  Parameters parameters;
  const auto attention = make(parameters, score, {.key_width = 2});
  const float keys[] = {1, 0, 0, 1, -1, 1};
  Tape tape;
  const Packed memory = {tape.input(keys, 3, 2), tape.even_offsets(1, 3)};
  const Packed asking = {tape.input(queries.data(), 1, 2), tape.even_offsets(1, 1)};
  const Tensor context = attention->attend({asking}, attention->prepare({memory})).context;
  return {context.data(), context.data() + context.size()};
}

// One test: the list is the program's, and what was added stays.
TEST(OwnMechanism, IsLikeAnyOtherOnceItWasAdded) {
  const size_t before = all().size();
  EXPECT_THROW(find("double_dot"), Error);
  add(kDouble);
  EXPECT_EQ(all().size(), before + 1);
  EXPECT_EQ(&find("double_dot"), &kDouble);
  EXPECT_EQ(&find("twice", Part::score), &kDouble);
  EXPECT_EQ(context_of("twice", {0.5f, -0.25f}), context_of("dot", {1.0f, -0.5f}));

  EXPECT_NE(refusal(kDouble).find("already a 'double_dot'"), std::string::npos) << refusal(kDouble);
  Entry entry = kDouble;
  entry.name = "another";
  EXPECT_NE(refusal(entry).find("already a 'twice'"), std::string::npos) << refusal(entry);
  entry.aliases = "";
  entry.part = Part::region;
  EXPECT_NE(refusal(entry).find("make_region"), std::string::npos) << refusal(entry);
  EXPECT_EQ(all().size(), before + 1);
}

}  // namespace
}  // namespace heed::attend::test
