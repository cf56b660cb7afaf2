// Every mechanism of the catalogue learns a small task that it is made for.
#include <functional>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/attend/one_thread.h"
#include "tests/learn/model.h"

namespace heed::attend::test {
namespace {

constexpr double kLearned = 0.95;

/// How a mechanism is put to its task: settings beyond those of its name alone.
struct Plan {
  ToyTask task;
  std::function<void(Trial&)> settings = [](Trial&) {};
};

void looks_back(Trial& t) {  // what tells two rows back from the row itself are the projections
  t.options.input = "self_attention";
  t.options.project = true;
}

const std::map<std::string, Plan>& plans() {
  static const std::map<std::string, Plan> all = {
      // scores
      {"dot", {ToyTask::reverse}},
      {"scaled_dot", {ToyTask::reverse}},
      {"cosine",
       {ToyTask::reverse, [](Trial& t) { t.options.learned_temperature = true, t.options.temperature = 10.0f; }}},
      {"general", {ToyTask::reverse}},
      {"additive", {ToyTask::reverse}},
      {"mlp", {ToyTask::reverse}},
      {"projected", {ToyTask::reverse}},
      {"self_scored", {ToyTask::marked}},
      {"intra", {ToyTask::lagged}},
      {"synthesizer_dense", {ToyTask::reverse}},
      {"synthesizer_random", {ToyTask::reverse}},
      {"synthesizer_mixture", {ToyTask::reverse}},
      // normalisers
      {"softmax", {ToyTask::reverse}},
      // With one head a query whose scores are all negative gets no context and no gradient, for good.
      {"relu", {ToyTask::reverse, [](Trial& t) { t.options.heads = 4; }}},
      {"sigmoid", {ToyTask::reverse}},
      {"identity", {ToyTask::reverse}},
      {"hard", {ToyTask::reverse}},
      {"hard_sampled", {ToyTask::marked}},
      // The same: a key that drops out has no gradient, and may be the right one.
      {"sparsemax", {ToyTask::reverse, [](Trial& t) { t.options.heads = 4; }}},
      {"entmax15", {ToyTask::reverse}},
      // regions
      {"global", {ToyTask::reverse}},
      {"local_h", {ToyTask::reverse, [](Trial& t) { t.options.window = 1; }}},
      {"not_self", {ToyTask::lagged, [](Trial& t) { looks_back(t); }}},
      {"local_m", {ToyTask::copy, [](Trial& t) { t.options.window = 1; }}},
      // The position starts in the middle, and a key outside the window pulls at nothing: the window holds all keys,
      // and
      // what must move is the Gaussian.
      {"local_p", {ToyTask::copy, [](Trial& t) { t.options.window = kLength, t.options.sigma = 3.0f; }}},
      {"causal", {ToyTask::lagged, looks_back}},
      {"masked", {ToyTask::reverse, [](Trial& t) { t.lengths = true; }}},
      {"sliding_window", {ToyTask::lagged, [](Trial& t) { looks_back(t), t.options.window = 3; }}},
      {"documents", {ToyTask::lagged, looks_back}},
      {"sinks", {ToyTask::lagged, [](Trial& t) { looks_back(t), t.options.window = 2, t.options.sinks = 1; }}},
      // time
      {"dynamic", {ToyTask::reverse}},
      {"static", {ToyTask::marked, [](Trial& t) { t.options.score = "additive"; }}},
      {"forced_forward", {ToyTask::copy}},
      {"guided", {ToyTask::copy, [](Trial& t) { t.guide_weight = 0.3f; }}},
      {"forward_only", {ToyTask::copy}},
      // inputs
      {"external", {ToyTask::reverse}},
      {"self_attention", {ToyTask::lagged}},
      {"cross_attention", {ToyTask::reverse}},
      {"plain_mode", {ToyTask::reverse}},
      {"key_value_mode", {ToyTask::reverse, [](Trial& t) { t.separate_values = true; }}},
      {"learned_query", {ToyTask::marked}},
      // structures
      {"single", {ToyTask::reverse}},
      {"hierarchical", {ToyTask::marked}},
      {"multi_head", {ToyTask::reverse}},
      {"structured", {ToyTask::marked}},
      {"key_value", {ToyTask::lagged, [](Trial& t) { t.options.window = 2; }}},
      {"feed_forward", {ToyTask::marked}},
      {"location_aware", {ToyTask::copy}},
      {"hierarchical_query", {ToyTask::reverse}},
  };
  return all;
}

Trial trial_of(const std::string& name, const Plan& plan) {
  Options base;
  base.query_width = base.key_width = 24;
  base.max_length = kLength;
  Trial trial{.task = plan.task, .options = options_of(name, base)};
  plan.settings(trial);
  return trial;
}

std::vector<std::string> catalogue() {
  std::vector<std::string> names;
  for (const Entry* entry : all()) names.push_back(entry->name);
  return names;
}

TEST(Plans, CoverTheCatalogueExactly) {
  const std::vector<std::string> names = catalogue();
  std::set<std::string> planned;
  for (const auto& [name, plan] : plans()) planned.insert(name);
  EXPECT_EQ(planned, std::set<std::string>(names.begin(), names.end()));
}

class EveryMechanism : public testing::TestWithParam<std::string> {};

TEST_P(EveryMechanism, Learns) {
  const auto plan = plans().find(GetParam());
  ASSERT_NE(plan, plans().end()) << "there is no plan for it";
  EXPECT_GT(Model(trial_of(GetParam(), plan->second)).learn(), kLearned);
}
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryMechanism, testing::ValuesIn(catalogue()),
                         [](const auto& info) { return info.param; });

/// The tasks test attention: a model that looks at all tokens alike can do none of them.
TEST(UniformAttention, LearnsNoTask) {
  for (const ToyTask task : {ToyTask::reverse, ToyTask::copy, ToyTask::lagged, ToyTask::marked}) {
    Trial trial = trial_of(task == ToyTask::lagged ? "causal" : "scaled_dot", {task});
    trial.frozen = true;
    EXPECT_LT(Model(trial).learn(), 0.6) << static_cast<int>(task);
  }
}

}  // namespace
}  // namespace heed::attend::test
