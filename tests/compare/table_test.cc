#include "heed/compare/table.h"

#include <cmath>

#include "heed/base/json.h"
#include "heed/compare/writers.h"
#include "heed/text/metric/exact.h"
#include "heed/text/metric/resample.h"
#include "tests/compare/small_plan.h"

namespace heed::compare::test {
namespace {

/// dot, general, additive and hierarchical (which is refused), each with these seeds.
Plan four(int64_t seeds) {
  return make_plan(small_base(), {.attention = {"dot", "general", "additive", "hierarchical"}, .seeds = seeds});
}

Results none_done(const Plan& plan) {
  return Results(plan.variants.size(), std::vector<std::optional<Result>>(plan.seeds.size()));
}

const Row& row_named(const Table& table, const std::string& name) {
  for (const Row& row : table.rows)
    if (row.name == name) return row;
  ADD_FAILURE() << "no row " << name;
  return table.rows.front();
}

TEST(Table, RanksAndSeeds) {
  const Plan plan = four(3);
  Results results = none_done(plan);
  results[0] = {some_right(60, 100), some_right(62, 100), some_right(64, 100)};
  results[1] = {some_right(90, 100), some_right(91, 100), some_right(95, 100)};
  results[2] = {failed("the loss is not finite"), {}, {}};
  const Table table = make_table(plan, results);
  EXPECT_EQ(table.metric, "exact");
  EXPECT_EQ(table.done, 7);
  EXPECT_EQ(table.runs, 9);
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0].name, "general");
  EXPECT_EQ(table.rows[0].rank, 1);
  EXPECT_DOUBLE_EQ(table.rows[0].means[0]->mean, 92.0);
  EXPECT_DOUBLE_EQ(*table.rows[0].means[0]->spread, std::sqrt(7.0));  // (4 + 1 + 9) / 2
  EXPECT_FALSE(table.rows[0].p);
  EXPECT_EQ(table.rows[1].name, "dot");
  // Differences 30, 29, 31: mean 30, deviation 1, t = 30 sqrt(3).
  EXPECT_NEAR(*table.rows[1].p, 1.0 - std::sqrt(2700.0 / 2702.0), 1e-12);
  EXPECT_EQ(*table.rows[1].adjusted_p, *table.rows[1].p) << "one test needs no correction";
  EXPECT_EQ(row_named(table, "additive").rank, 0);
  EXPECT_EQ(row_named(table, "additive").reason, "training failed: the loss is not finite");
  expect_part(row_named(table, "hierarchical").reason, "documents");
  expect_part(table.test, "t-test over 3 seeds");
}

TEST(Table, OneSeedIsTestedOnTheLines) {
  const Plan plan = four(1);
  Results results = none_done(plan);
  results[0] = {some_right(60, 100)};
  results[1] = {some_right(80, 100)};
  results[2] = {some_right(79, 100)};
  const Table table = make_table(plan, results);
  metric::Statistics best(2), other(2);
  for (const auto& row : results[1][0]->statistics) best.add(row);
  for (const auto& row : results[0][0]->statistics) other.add(row);
  const double p = metric::approximate_randomisation(metric::Exact(), best, other, {.samples = 4000}).p;
  EXPECT_EQ(*row_named(table, "dot").p, p);
  EXPECT_EQ(*row_named(table, "dot").adjusted_p, 2 * p);
  EXPECT_LT(p, 0.001);
  EXPECT_EQ(*row_named(table, "additive").p, 1.0) << "they differ in one line, which may be chance either way";
  EXPECT_FALSE(table.rows[0].means[0]->spread);
}

TEST(Table, LowerIsBetterForErrors) {
  const Plan plan = four(1);
  Results results = none_done(plan);
  results[0] = {some_right(60, 100)};
  results[1] = {some_right(80, 100)};
  for (const size_t v : {0, 1}) {
    results[v][0]->metric = "perplexity";  // it has two numbers for a line too
    results[v][0]->higher_is_better = false;
  }
  const Table table = make_table(plan, results);
  EXPECT_EQ(table.rows[0].name, "dot");
  EXPECT_EQ(row_named(table, "additive").rank, 0) << "still to come";
  EXPECT_EQ(row_named(table, "additive").reason, "");
}

TEST(Table, EqualOnesShareARankAndTheLossDecidesTheirOrder) {
  const Plan plan = four(1);
  Results results = none_done(plan);
  results[0] = {some_right(50, 100, 0.9)};
  results[1] = {some_right(50, 100, 0.5)};
  results[2] = {some_right(40, 100, 0.1)};
  const Table table = make_table(plan, results);
  EXPECT_EQ(table.rows[0].name, "general");
  EXPECT_EQ(table.rows[1].rank, 1);
  EXPECT_EQ(table.rows[2].rank, 3);
  EXPECT_EQ(*table.rows[1].p, 1.0);
}

TEST(Table, NothingDoneYet) {
  const Plan plan = four(2);
  const Table table = make_table(plan, none_done(plan));
  EXPECT_EQ(table.metric, "");
  EXPECT_EQ(table.done, 0);
  EXPECT_EQ(headings(table).size(), cells(table, table.rows[0]).size());
  EXPECT_FALSE(markdown_text(plan, table).empty());
}

TEST(Table, CellsForPeople) {
  const Plan plan = four(2);
  Results results = none_done(plan);
  results[0] = {some_right(60, 100), some_right(62, 100)};
  results[1] = {some_right(50, 100), some_right(51, 100)};
  results[0][0]->training_speed = 12345.6;
  results[0][0]->training_memory = 2'500'000;
  const Table table = make_table(plan, results);
  const std::vector<std::string> titles = headings(table), first = cells(table, table.rows[0]);
  ASSERT_EQ(titles.size(), first.size());
  EXPECT_EQ(titles[2], "exact match");
  EXPECT_EQ(first[0], "1");
  EXPECT_EQ(first[1], "dot");
  EXPECT_EQ(first[2], "61.00 ± 1.41");
  EXPECT_EQ(first[4], "1,234");
  EXPECT_EQ(first[5], "12,346");
  EXPECT_EQ(first[7], "2.5");
  EXPECT_EQ(first[8], "") << "no alignment was measured";
  EXPECT_EQ(first.back(), "best");
  EXPECT_EQ(legend(table).size(), titles.size() - 2);
}

// --------------------------------------------------------------------------------------------------------- writers

Picture small_picture() {
  return {"a <b", {"a", " ", "<b"}, {"x", "\"&"}, "x\"&", "ref", {{1.0f, 0.0f, 0.25f}, {-0.5f, 0.001f, NAN}}};
}

TEST(Writers, Csv) {
  const Plan plan = four(1);
  Results results = none_done(plan);
  results[0] = {some_right(60, 100)};
  results[1] = {failed("a \"quoted\", long\nreason")};
  const std::string csv = csv_text(make_table(plan, results));
  expect_part(csv, "name,rank,runs,value,value_spread,loss,loss_spread,parameters");
  expect_part(csv, "\ndot,1,1,60,,1,,1234,");
  expect_part(csv, "\"training failed: a \"\"quoted\"\", long\nreason\"\n");
}

TEST(Writers, JsonHoldsEveryRun) {
  const Plan plan = four(2);
  Results results = none_done(plan);
  results[0] = {some_right(60, 100), {}};
  results[0][0]->picture = small_picture();
  results[0][0]->picture->weights[1][2] = 0;
  const std::optional<file::Json> json = file::Json::parse(json_text(plan, make_table(plan, results), results));
  ASSERT_TRUE(json);
  const auto& variants = *json->find("variants")->as<file::Json::Elements>();
  ASSERT_EQ(variants.size(), 4u);
  EXPECT_EQ(*variants[0].find("name")->as<std::string>(), "dot");
  const auto& runs = *variants[0].find("runs")->as<file::Json::Elements>();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].find("statistics"), nullptr) << "result.json has them";
  EXPECT_EQ(*runs[0].find("picture")->find("output")->as<std::string>(), "x\"&");
}

TEST(Writers, MarkdownHasARowForEach) {
  const Plan plan = four(1);
  Results results = none_done(plan);
  results[0] = {some_right(60, 100)};
  results[1] = {failed("a | b\nc")};
  const std::string text = markdown_text(plan, make_table(plan, results));
  expect_part(text, "| 1 | dot | 60.00 | 1.0000 |");
  expect_part(text, "- general: training failed: a \\| b c\n");
  expect_part(text, "- additive: still to come\n");
  expect_part(text, "2 of 3 runs; seed 1.");
}

TEST(Writers, Svg) {
  const std::string svg = svg_text(small_picture(), "a & b");
  expect_part(svg, "<title>a &amp; b</title>");
  expect_part(svg, "class=\"on\"");
  expect_part(svg, "fill-opacity=\"0.71\"");  // sqrt(0.5)
  expect_part(svg, "class=\"off\"");
  expect_part(svg, ">&lt;b</text>");
  expect_part(svg, ">␣</text>");
  size_t cells_drawn = 0;
  for (size_t at = svg.find("fill-opacity"); at != std::string::npos; at = svg.find("fill-opacity", at + 1))
    ++cells_drawn;
  EXPECT_EQ(cells_drawn, 3u) << "nothing for 0, for less than 0.005 and for NaN";
}

TEST(Writers, HtmlEscapesWhatItShows) {
  const Plan plan = four(1);
  Results results = none_done(plan);
  results[0] = {some_right(60, 100)};
  results[0][0]->picture = small_picture();
  results[1] = {failed("<script>alert(1)</script>")};
  const std::string page = html_text(plan, make_table(plan, results));
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  expect_part(page, "&lt;script&gt;alert");
  expect_part(page, "prefers-color-scheme: dark");
  EXPECT_EQ(page.find("src="), std::string::npos) << "nothing is loaded";
  EXPECT_EQ(page.find("href="), std::string::npos);
}

}  // namespace
}  // namespace heed::compare::test
