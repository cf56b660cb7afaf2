#include "heed/compare/comparison.h"

#include <fmt/format.h>

#include <functional>
#include <set>

#include "heed/compare/result.h"
#include "tests/compare/small_plan.h"

namespace heed::compare::test {
namespace {

namespace fs = std::filesystem;

/// Counts what happens, and may stop the comparison in the middle of a run.
class Watcher final : public ComparisonObserver {
 public:
  void run_begins(const Variant& variant, uint64_t seed, const Table&) override {
    begun.push_back(variant.name + " " + std::to_string(seed));
  }
  void run_ended(const Variant&, uint64_t, const Result&, const Table&) override { ++ended; }
  void stepped(const train::StepReport& report, const train::Progress&) override {
    ++steps;
    if (after_step) after_step(report.step);
  }

  std::vector<std::string> begun;
  int64_t ended = 0, steps = 0;
  std::function<void(int64_t)> after_step;
};

Plan two_by_two() { return make_plan(settle(small_recipe()), {.attention = {"dot", "additive"}, .seeds = 2}); }

/// What does not depend on how fast the machine is.
void expect_same_values(const Table& a, const Table& b) {
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (size_t i = 0; i < a.rows.size(); ++i) {
    EXPECT_EQ(a.rows[i].name, b.rows[i].name);
    EXPECT_EQ(a.rows[i].p, b.rows[i].p);
    for (const size_t m : {0u, 1u, 2u, 6u, 7u, 8u}) {
      ASSERT_EQ(a.rows[i].means[m].has_value(), b.rows[i].means[m].has_value()) << all_measures()[m].key;
      if (!a.rows[i].means[m]) continue;
      EXPECT_EQ(a.rows[i].means[m]->mean, b.rows[i].means[m]->mean) << all_measures()[m].key;
    }
  }
}

TEST(Comparison, EveryVariantWithEverySeed) {
  const TemporaryFolder folder;
  Watcher watcher;
  const Compared done = compare(two_by_two(), {.folder = folder / "out", .observer = &watcher});
  EXPECT_FALSE(done.stopped);
  EXPECT_EQ(watcher.begun, (std::vector<std::string>{"dot 1", "additive 1", "dot 2", "additive 2"}));
  EXPECT_EQ(watcher.ended, 4);
  EXPECT_EQ(done.table.metric, "cer");
  EXPECT_FALSE(done.table.higher_is_better);
  std::set<std::string> lines;
  for (const Row& row : done.table.rows) {
    EXPECT_EQ(row.runs, 2);
    for (size_t m = 0; m < row.means.size(); ++m) EXPECT_TRUE(row.means[m]) << all_measures()[m].key;
    if (row.picture) lines.insert(row.picture->line);
  }
  EXPECT_EQ(lines.size(), 1u) << "the same line for all";
  EXPECT_TRUE(done.table.rows[1].p);
  for (const char* name : {"compare.json", "compare.csv", "compare.md", "compare.html", "plan.json",
                           "dot/seed-2/result.json", "dot/seed-2/log.jsonl", "additive/seed-1/best.txt"})
    EXPECT_TRUE(fs::exists(folder / "out" / name)) << name;
}

TEST(Comparison, ResumedAsIfNothingHadHappened) {
  const TemporaryFolder folder;
  const Compared whole = compare(two_by_two(), {.folder = folder / "whole"});
  std::atomic<bool> stop = false;
  Watcher first, second;
  // In the middle of the second run.
  first.after_step = [&](int64_t step) { stop = first.begun.size() == 2 && step == 7; };
  const Compared part = compare(two_by_two(), {.folder = folder / "part", .stop = &stop, .observer = &first});
  EXPECT_TRUE(part.stopped);
  EXPECT_EQ(part.table.done, 1);
  const Compared rest =
      compare(load_plan(folder / "part"), {.folder = folder / "part", .resume = true, .observer = &second});
  EXPECT_FALSE(rest.stopped);
  EXPECT_EQ(second.begun, (std::vector<std::string>{"additive 1", "dot 2", "additive 2"}));
  EXPECT_EQ(second.steps, 5 + 12 + 12) << "what was done is not done again";
  expect_same_values(rest.table, whole.table);
}

TEST(Comparison, VariantsMayBeAddedButTheRecipeStays) {
  const TemporaryFolder folder;
  compare(make_plan(settle(small_recipe()), {.attention = {"dot"}}), {.folder = folder / "out"});
  Watcher watcher;
  const Compared more = compare(make_plan(settle(small_recipe()), {.attention = {"dot", "general"}}),
                                {.folder = folder / "out", .resume = true, .observer = &watcher});
  EXPECT_EQ(watcher.begun, (std::vector<std::string>{"general 1"}));
  EXPECT_EQ(more.table.done, 2);
  const Plan wider = make_plan(settle(small_recipe({"model.width=16"})), {.attention = {"dot"}});
  const std::string said = error_of([&] { compare(wider, {.folder = folder / "out", .resume = true}); });
  expect_part(said, "model.width is 16, was 8");
}

/// Large files take a while: what the training has read is what is measured on.
TEST(Comparison, ARunReadsItsDataOnce) {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 10; i < 99; ++i) lines += fmt::format("{}\t{}\n", i, 100 - i);
  heed::test::spill(folder / "pairs.tsv", lines);
  recipe::Recipe recipe =
      small_recipe({"data.task=none", "data.tsv=" + (folder / "pairs.tsv").string(), "data.held_out=0.2"});
  const Plan plan = make_plan(settle(recipe), {.attention = {"dot"}});
  class Remover final : public ComparisonObserver {
   public:
    explicit Remover(fs::path file) : file_(std::move(file)) {}
    void finished(const train::Finished&) override { fs::remove(file_); }

   private:
    fs::path file_;
  } remover(folder / "pairs.tsv");
  const Compared done = compare(plan, {.folder = folder / "out", .observer = &remover});
  EXPECT_FALSE(fs::exists(folder / "pairs.tsv"));
  EXPECT_EQ(done.table.rows[0].runs, 1) << done.table.rows[0].reason;
}

TEST(Comparison, NothingIsOverwritten) {
  const TemporaryFolder folder;
  const Plan plan = two_by_two();
  heed::test::spill(folder / "mine.txt", "x");
  expect_part(error_of([&] { compare(plan, {.folder = folder.path()}); }), "is not empty");
  expect_part(error_of([&] { compare(plan, {.folder = folder.path(), .resume = true}); }),
              "holds no comparison to resume");
  save_plan(plan, folder.path());
  expect_part(error_of([&] { compare(plan, {.folder = folder.path()}); }), "--resume continues it");
}

TEST(Comparison, AVariantThatFailsIsARow) {
  const TemporaryFolder folder;
  // The longest line has more tokens than this synthesizer has numbers for.
  const Plan plan =
      make_plan(settle(small_recipe({"attention.max_length=3"})), {.attention = {"dot", "synthesizer_random"}});
  const Compared done = compare(plan, {.folder = folder / "out"});
  EXPECT_EQ(done.table.rows[0].name, "dot");
  expect_part(done.table.rows[1].reason, "training failed: line");
  const Plan bad = make_plan(settle(small_recipe({"attention.max_length=3"})), {.attention = {"synthesizer_random"}});
  expect_part(error_of([&] { compare(bad, {.folder = folder / "bad"}); }), "every run failed");
}

TEST(Comparison, ThePerplexityWhereNothingIsDecoded) {
  const TemporaryFolder folder;
  const Plan plan =
      make_plan(settle(small_recipe({"validate.metric=loss", "validate.decode=0"})), {.attention = {"dot", "general"}});
  const Compared done = compare(plan, {.folder = folder / "out"});
  EXPECT_EQ(done.table.metric, "perplexity");
  EXPECT_FALSE(done.table.higher_is_better);
  const Row& best = done.table.rows[0];
  EXPECT_NEAR(best.means[0]->mean, std::exp(best.means[1]->mean), 1e-3);
  EXPECT_FALSE(best.means[4]) << "no decoding, no speed of it";
  EXPECT_FALSE(best.picture);
  EXPECT_TRUE(done.table.rows[1].p);
}

// ---------------------------------------------------------------------------------------------------------- results

TEST(RunResult, ComesBackFromItsFile) {
  const TemporaryFolder folder;
  EXPECT_FALSE(load_result(folder.path()));
  Result result = some_right(3, 5, 0.25);
  result.training_memory = 1'000'000;
  result.entropy = 1.5;
  result.picture = Picture{"ab", {"a", "b"}, {"x"}, "x", "y", {{0.25f, 0.75f}}};
  save_result(result, folder.path());
  const std::optional<Result> again = load_result(folder.path());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->value, result.value);
  EXPECT_EQ(again->statistics, result.statistics);
  EXPECT_EQ(again->training_memory, result.training_memory);
  EXPECT_EQ(again->entropy, result.entropy);
  EXPECT_EQ(again->monotonicity, std::nullopt);
  EXPECT_EQ(again->picture, result.picture);
  save_result(failed("why"), folder.path());
  EXPECT_EQ(load_result(folder.path())->error, "why");
}

TEST(RunResult, DamageIsNamed) {
  const TemporaryFolder folder;
  save_result(some_right(3, 5), folder.path());
  const std::string good = heed::test::slurp(folder / kResultFile);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {good.substr(0, good.size() / 2), "is not JSON"},
           {with("\"updates\":12", "\"updates\":-1"), "'updates' should be a whole number"},
           {with("\"updates\":12", "\"updates\":1e300"), "'updates' should be a whole number"},
           {with("\"value\":60.0", "\"value\":\"60\""), "'value' should be a number"},
           {with("\"loss\"", "\"los\""), "'loss' should be there"},
           {with("[1.0,1.0]", "[1.0]"), "'statistics' should be rows"},
           {with("\"exact\"", "\"exakt\""), "exact"}}) {
    heed::test::spill(folder / kResultFile, text);
    expect_part(error_of([&] { load_result(folder.path()); }), says);
  }
}

}  // namespace
}  // namespace heed::compare::test
