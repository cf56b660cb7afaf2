#include "heed/compare/plan.h"

#include <algorithm>
#include <set>

#include "heed/attend/all.h"
#include "tests/compare/small_plan.h"

namespace heed::compare::test {
namespace {

TEST(Plan, NamesStandForTheirSettings) {
  const Plan plan =
      make_plan(small_base(), {.attention = {"additive", "dot", "additive+sparsemax+local_p"}, .seeds = 2});
  EXPECT_EQ(names_of(plan), (std::vector<std::string>{"additive", "dot", "additive+sparsemax+local_p"}));
  for (const Variant& variant : plan.variants) EXPECT_EQ(variant.refusal, "") << variant.name;
  EXPECT_EQ(plan.variants[1].recipe.model.attention.score, "dot");
  const attend::Options& all = plan.variants[2].recipe.model.attention;
  EXPECT_EQ(all.score, "additive");
  EXPECT_EQ(all.normalise, "sparsemax");
  EXPECT_EQ(all.region, "local_p");
  EXPECT_EQ(plan.seeds, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(plan.runs(), 6);
  EXPECT_EQ(seeds_text(plan), "seeds 1 to 2");
}

TEST(Plan, SeveralRegionsAreJoined) {
  const Plan plan = make_plan(small_base(), {.attention = {"causal+sliding_window"}});
  EXPECT_EQ(plan.variants[0].recipe.model.attention.region, "causal+sliding_window");
}

TEST(Plan, EveryCombinationOfKeys) {
  const Plan plan = make_plan(small_base(), {.attention = {"dot", "general"}, .over = {"model.width=8,16"}});
  EXPECT_EQ(names_of(plan), (std::vector<std::string>{"dot, model.width=8", "dot, model.width=16",
                                                      "general, model.width=8", "general, model.width=16"}));
  EXPECT_EQ(plan.variants[3].recipe.model.width, 16);
  EXPECT_EQ(plan.variants[3].recipe.model.attention.score, "general");
  std::set<std::string> folders;
  for (const Variant& variant : plan.variants) folders.insert(variant.folder);
  EXPECT_EQ(folders.count("dot,model.width=8"), 0u) << "a comma is no plain letter";
  EXPECT_EQ(folders.size(), 4u);
}

TEST(Plan, FoldersOfNamesThatLookAlikeDiffer) {
  const Plan plan = make_plan(small_base(), {.over = {"data.folder=a/b,a-b,.."}});
  std::set<std::string> folders;
  for (const Variant& variant : plan.variants) {
    EXPECT_EQ(variant.folder.find('/'), std::string::npos);
    EXPECT_NE(variant.folder.front(), '.');
    folders.insert(variant.folder);
  }
  EXPECT_EQ(folders.size(), 3u);
}

TEST(Plan, TheWholeCatalogueWithoutTwins) {
  const Plan plan = make_plan(small_base(), {});
  std::set<std::string> trained;
  for (const Variant& variant : plan.variants) {
    if (variant.refusal.empty()) trained.insert(variant.name);
    if (variant.name == "softmax" || variant.name == "masked") {
      EXPECT_EQ(variant.refusal, "the same model as additive");
    }
    if (variant.name == "hierarchical") expect_part(variant.refusal, "documents made of sentences");
    if (variant.name == "key_value") expect_part(variant.refusal, "language model");
  }
  for (const char* name : {"dot", "additive", "sparsemax", "local_p", "forward_only", "multi_head"})
    EXPECT_EQ(trained.count(name), 1u) << name;
  EXPECT_EQ(plan.runs(), std::ssize(trained));
}

TEST(Plan, WhatComputesTheSameIsTrainedOnce) {
  // A Transformer has heads in any case.
  const Plan plan = make_plan(
      settle(small_recipe({"model.kind=transformer", "attention.score=scaled_dot"})),
      {.attention = {"scaled_dot", "multi_head", "dot", "sparsemax"}, .over = {"train.learning_rate=0.01,0.02"}});
  std::map<std::string, std::string> same;
  for (const Variant& variant : plan.variants) same[variant.name] = variant.same_as;
  EXPECT_EQ(same["multi_head, train.learning_rate=0.01"], "scaled_dot, train.learning_rate=0.01");
  EXPECT_EQ(same["multi_head, train.learning_rate=0.02"], "scaled_dot, train.learning_rate=0.02");
  EXPECT_EQ(same["dot, train.learning_rate=0.01"], "");
  EXPECT_EQ(same["scaled_dot, train.learning_rate=0.02"], "") << "another rate trains another model";
  const heed::test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path());
  save_plan(plan, folder.path());
  const Plan back = load_plan(folder.path());
  for (const Variant& variant : back.variants) EXPECT_EQ(variant.same_as, same[variant.name]) << variant.name;
}

TEST(Plan, WhatActsOnlyLaterIsNotTheSame) {
  const Plan plan = make_plan(settle(small_recipe({"attention.time=guided"})),
                              {.over = {"attention.guide_schedule=constant,linear", "attention.guide_steps=5,9"}});
  for (const Variant& variant : plan.variants) EXPECT_EQ(variant.same_as, "") << variant.name;
}

TEST(Plan, ALimitOfTimeBecomesUpdatesForAll) {
  const recipe::Recipe given = small_recipe({"stop.steps=0", "stop.minutes=0.002"});
  const PlanBase by_updates = settle(given), by_time = settle(given, Same::time);
  EXPECT_EQ(by_updates.settled.stop.minutes, 0);
  EXPECT_GT(by_updates.settled.stop.steps, 0);
  EXPECT_EQ(by_time.settled.stop.minutes, 0.002);
  EXPECT_EQ(settle(small_recipe({"stop.steps=3", "stop.minutes=5"})).settled.stop.steps, 3);
  const heed::test::TemporaryFolder folder;
  save_plan(make_plan(by_updates, {.attention = {"dot"}}), folder.path());
  const auto before = settled_before(given, folder.path());
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(before->settled.stop.steps, by_updates.settled.stop.steps) << "found out once";
  EXPECT_FALSE(settled_before(small_recipe({"stop.steps=0", "stop.minutes=0.003"}), folder.path()).has_value());
}

TEST(Plan, NamesThatMeanTheSameAreOne) {
  const Plan plan =
      make_plan(small_base(),
                {.over = {"attention.score=additive,concat", "attention.region=global,masked,local_m,masked+local_m"}});
  std::vector<std::string> trained;
  for (const Variant& variant : plan.variants)
    if (variant.refusal.empty()) trained.push_back(variant.name);
  EXPECT_EQ(trained, (std::vector<std::string>{"attention.score=additive, attention.region=global",
                                               "attention.score=additive, attention.region=local_m"}));
}

TEST(Plan, OptionsOfTheRecipeThatAVariantDoesNotReadTakeTheirDefaults) {
  const Plan plan = make_plan(small_base({"attention.hidden=5"}), {.attention = {"additive", "dot"}});
  EXPECT_EQ(plan.variants[0].recipe.model.attention.hidden, 5);
  EXPECT_EQ(plan.variants[1].refusal, "");
  EXPECT_EQ(plan.variants[1].recipe.model.attention.hidden, attend::Options().hidden);
}

TEST(Plan, AnOptionThatIsComparedButNotReadIsRefused) {
  const Plan plan = make_plan(small_base(), {.attention = {"additive", "dot"}, .over = {"attention.hidden=5,6"}});
  EXPECT_EQ(plan.variants[0].refusal, "");
  expect_part(plan.variants[2].refusal, "hidden");
  EXPECT_EQ(plan.runs(), 2);
}

/// What was chosen to fit the data may leave no place for a mechanism; then it does not count.
TEST(Plan, ChosenAttentionGivesWay) {
  PlanBase base = {
      recipe::parse("[model]\ntask = \"label\"\n[data]\ntsv = \"texts.tsv\"\n[stop]\nsteps = 1\n", "labels.toml"), {}};
  base.settled = base.given;
  const std::string chosen[] = {"attention.structure=hierarchical"};
  recipe::set(base.settled, chosen);
  base.settled.open.clear();
  const Plan plan = make_plan(base, {.attention = {"hierarchical", "additive", "structured", "local_m"}});
  EXPECT_EQ(plan.variants[0].recipe.model.attention.structure, "hierarchical");
  EXPECT_EQ(plan.variants[1].refusal, "");
  EXPECT_EQ(plan.variants[1].recipe.model.attention.structure, "single");
  EXPECT_EQ(plan.variants[1].recipe.model.attention.score, "additive");
  EXPECT_EQ(plan.variants[2].recipe.model.attention.queries, 4);
}

TEST(Plan, MistakesAreNamed) {
  const recipe::Recipe recipe = small_recipe();
  const auto wrong = [&](const Request& request) { return error_of([&] { check_request(recipe, request); }); };
  expect_part(wrong({.attention = {"aditive"}}), "'additive'");
  expect_part(wrong({.attention = {"additive+sparsmax"}}), "'sparsemax'");
  expect_part(wrong({.over = {"model.widht=8"}}), "did you mean 'model.width'");
  expect_part(wrong({.over = {"model.width=8,none"}}), "model.width must be");
  expect_part(wrong({.over = {"model.width"}}), "as in model.width=64,128");
  expect_part(wrong({.over = {"train.seed=1,2"}}), "--seeds N");
  expect_part(wrong({.over = {"output.folder=a,b"}}), "--output");
  expect_part(wrong({.over = {"validate.metric=exact,cer"}}), "validate.metric");
  expect_part(wrong({.seeds = 0}), "from 1 to");
  expect_part(error_of([] { make_plan(small_base(), {.over = std::vector<std::string>(14, "model.width=8,16")}); }),
              "more than");
  expect_part(error_of([] {
                make_plan(small_base(), {.attention = {"hierarchical", "documents"}});
              }),
              "none of these: hierarchical");
}

TEST(Plan, TheRecipeOfARun) {
  const Plan plan = make_plan(small_base(), {.attention = {"dot"}, .seeds = 3});
  const recipe::Recipe recipe = recipe_of_run(plan.variants[0], 3, "out");
  EXPECT_EQ(recipe.train.seed, 3u);
  EXPECT_EQ(recipe.data.source.seed, 3u) << "what follows from the seed follows";
  EXPECT_EQ(recipe.output.folder, "out/dot/seed-3");
}

TEST(Plan, ComesBackFromItsFile) {
  const TemporaryFolder folder;
  const Plan plan =
      make_plan(small_base(), {.attention = {"dot", "softmax"}, .over = {"model.width=8,16"}, .seeds = 2});
  save_plan(plan, folder.path());
  const Plan again = load_plan(folder.path());
  EXPECT_EQ(again.request, plan.request);
  EXPECT_EQ(again.seeds, plan.seeds);
  EXPECT_EQ(names_of(again), names_of(plan));
  EXPECT_EQ(again.base.given.open, plan.base.given.open);
  for (size_t i = 0; i < plan.variants.size(); ++i) {
    EXPECT_EQ(again.variants[i].refusal, plan.variants[i].refusal);
    EXPECT_EQ(recipe::text_of(again.variants[i].recipe), recipe::text_of(plan.variants[i].recipe));
  }
}

TEST(Plan, DamagedFilesAreNamed) {
  const TemporaryFolder folder;
  const std::string recipe =
      "\"given\": \"[data]\\ntask = \\\"reverse\\\"\", \"recipe\": \"[data]\\ntask = \\\"reverse\\\"\"";
  for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {"{", "is not JSON"},
           {"{}", "'seeds' is missing"},
           {"{\"seeds\": 0}", "'seeds' cannot be 0"},
           {"{\"seeds\": 1, \"given\": 3}", "'given' is missing or of the wrong kind"},
           {"{\"seeds\": 1, \"given\": \"[dat]\", \"recipe\": \"\"}", "did you mean [data]"},
           {"{\"seeds\": 1, " + recipe + ", \"attention\": [3], \"over\": []}", "'attention' should hold texts"},
           {"{\"seeds\": 1, " + recipe + ", \"attention\": [\"addditive\"], \"over\": []}", "'additive'"}}) {
    heed::test::spill(folder / kPlanFile, text);
    const std::string said = error_of([&] { load_plan(folder.path()); });
    expect_part(said, says);
    expect_part(said, kPlanFile);
  }
}

}  // namespace
}  // namespace heed::compare::test
