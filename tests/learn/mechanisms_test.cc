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
  Task task;
  std::function<void(Trial&)> settings = [](Trial&) {};
};

void looks_back(Trial& t) {  // what tells two rows back from the row itself are the projections
  t.options.input = "self_attention";
  t.options.project = true;
}

const std::map<std::string, Plan>& plans() {
  static const std::map<std::string, Plan> all = {
      // scores
      {"dot", {Task::reverse}},
      {"scaled_dot", {Task::reverse}},
      {"cosine",
       {Task::reverse, [](Trial& t) { t.options.learned_temperature = true, t.options.temperature = 10.0f; }}},
      {"general", {Task::reverse}},
      {"additive", {Task::reverse}},
      {"mlp", {Task::reverse}},
      {"projected", {Task::reverse}},
      {"self_scored", {Task::marked}},
      {"intra", {Task::lagged}},
      {"synthesizer_dense", {Task::reverse}},
      {"synthesizer_random", {Task::reverse}},
      {"synthesizer_mixture", {Task::reverse}},
      // normalisers
      {"softmax", {Task::reverse}},
      // With one head a query whose scores are all negative gets no context and no gradient, for good.
      {"relu", {Task::reverse, [](Trial& t) { t.options.heads = 4; }}},
      {"sigmoid", {Task::reverse}},
      {"identity", {Task::reverse}},
      {"hard", {Task::reverse}},
      {"hard_sampled", {Task::marked}},
      // The same: a key that drops out has no gradient, and may be the right one.
      {"sparsemax", {Task::reverse, [](Trial& t) { t.options.heads = 4; }}},
      {"entmax15", {Task::reverse}},
      // regions
      {"global", {Task::reverse}},
      {"local_m", {Task::copy, [](Trial& t) { t.options.window = 1; }}},
      // The position starts in the middle, and a key outside the window pulls at nothing: the window holds all keys,
      // and
      // what must move is the Gaussian.
      {"local_p", {Task::copy, [](Trial& t) { t.options.window = kLength, t.options.sigma = 3.0f; }}},
      {"causal", {Task::lagged, looks_back}},
      {"masked", {Task::reverse, [](Trial& t) { t.lengths = true; }}},
      {"sliding_window", {Task::lagged, [](Trial& t) { looks_back(t), t.options.window = 3; }}},
      {"documents", {Task::lagged, looks_back}},
      {"sinks", {Task::lagged, [](Trial& t) { looks_back(t), t.options.window = 2, t.options.sinks = 1; }}},
      // time
      {"dynamic", {Task::reverse}},
      {"static", {Task::marked, [](Trial& t) { t.options.score = "additive"; }}},
      {"forced_forward", {Task::copy}},
      {"guided", {Task::copy, [](Trial& t) { t.guide_weight = 0.3f; }}},
      {"forward_only", {Task::copy}},
      // inputs
      {"external", {Task::reverse}},
      {"self_attention", {Task::lagged}},
      {"cross_attention", {Task::reverse}},
      {"plain_mode", {Task::reverse}},
      {"key_value_mode", {Task::reverse, [](Trial& t) { t.separate_values = true; }}},
      {"learned_query", {Task::marked}},
      // structures
      {"single", {Task::reverse}},
      {"hierarchical", {Task::marked}},
      {"multi_head", {Task::reverse}},
      {"structured", {Task::marked}},
      {"key_value", {Task::lagged, [](Trial& t) { t.options.window = 2; }}},
      {"feed_forward", {Task::marked}},
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
  for (const Task task : {Task::reverse, Task::copy, Task::lagged, Task::marked}) {
    Trial trial = trial_of(task == Task::lagged ? "causal" : "scaled_dot", {task});
    trial.frozen = true;
    EXPECT_LT(Model(trial).learn(), 0.6) << static_cast<int>(task);
  }
}

}  // namespace
}  // namespace heed::attend::test
