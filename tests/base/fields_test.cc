#include "heed/base/fields.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "heed/attend/options.h"
#include "tests/base/temporary.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

using file::Fields;
using file::Limit;

struct Options {
  std::string title = "none";
  int64_t steps = 1000;
  float rate = 1e-3f;
  double dropout = 0.1;
  bool shuffle = true;
  std::string optimiser = "adam";
  uint64_t seed = 1;
  int32_t threads = 2;
  std::vector<int64_t> widths = {1, 2};
  std::vector<double> betas = {0.9, 0.999};
  std::vector<std::string> files = {"a", "b"};
};

Fields fields_of(Options& o) {
  Fields fields;
  fields.add("title", o.title, "of the run");
  fields.section("train", "How long and how fast.");
  fields.add("train.steps", o.steps, "updates in all", Limit::between(1, 1000000));
  fields.add("train.rate", o.rate, "of learning", Limit::above(0));
  fields.add("train.dropout", o.dropout, "", Limit::from_to_below(0, 1));
  fields.add("train.shuffle", o.shuffle, "the examples, before each epoch");
  fields.add("train.optimiser", o.optimiser, "who makes the step", Limit::one_of({"adam", "adamw", "sgd"}));
  fields.add("train.seed", o.seed, "");
  fields.add("train.threads", o.threads, "", Limit::at_least(1));
  fields.section("model.encoder", "");
  fields.add("model.encoder.widths", o.widths, "of the layers, from the bottom up", Limit::at_least(1));
  fields.add("model.encoder.betas", o.betas, "");
  fields.add("data.files", o.files, "what is read", Limit::not_empty());
  return fields;
}

Options parsed(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  Options options;
  fields_of(options).parse(toml, "r.toml", overrides);
  return options;
}

void expect_mistakes(const std::string& toml, const std::string& message) {
  SCOPED_TRACE(toml);
  expect_error([&] { parsed(toml); }, message);
}

void expect_bad_override(const std::string& text, const std::string& message) {
  expect_error([&] { parsed("", {text}); }, "--set " + text + ": " + message);
}

TEST(Recipe, FillsTheOptions) {
  const Options o = parsed(R"(
title = "caf\u00e9 \"x\""   # a comment
[train]
steps = 1_000
rate = 1
dropout = 0.25
shuffle = false
optimiser = 'sgd'
seed = 9223372036854775807
threads = 8
[model.encoder]
widths = [3, 4,
          5]
betas = [0.5, 1]
[data]
files = ['x']
)" + std::string("# the end"),
                           {"data.files=[\"c\"]"});
  EXPECT_EQ(o.title, "caf\xc3\xa9 \"x\"");
  EXPECT_EQ(o.steps, 1000);
  EXPECT_EQ(o.rate, 1.0f);
  EXPECT_EQ(o.dropout, 0.25);
  EXPECT_FALSE(o.shuffle);
  EXPECT_EQ(o.optimiser, "sgd");
  EXPECT_EQ(o.seed, uint64_t{INT64_MAX});
  EXPECT_EQ(o.threads, 8);
  EXPECT_EQ(o.widths, (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(o.betas, (std::vector<double>{0.5, 1.0}));
  EXPECT_EQ(o.files, std::vector<std::string>{"c"});
}

TEST(Recipe, WhatIsNotSaidStays) {
  const Options o = parsed("[train]\nsteps = 7\n");
  EXPECT_EQ(o.steps, 7);
  EXPECT_EQ(o.rate, 1e-3f);
  EXPECT_EQ(o.files, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(parsed("").steps, 1000);
  EXPECT_EQ(parsed("train.steps = 8").steps, 8);
  EXPECT_EQ(parsed("train = {steps = 9}").steps, 9);
  EXPECT_EQ(parsed("\xEF\xBB\xBF[train]\r\nsteps = 10\r\n").steps, 10);
}

TEST(Recipe, UnknownNames) {
  expect_mistakes("[train]\n\nstep = 7", "r.toml:3: unknown key 'train.step'; did you mean 'train.steps'?");
  expect_mistakes("[train]\nwidths = [1]",
                  "r.toml:2: unknown key 'train.widths'; did you mean 'model.encoder.widths'?");
  expect_mistakes("# one\n[trian]\nsteps = 7", "r.toml:2: unknown section [trian]; did you mean [train]?");
  expect_mistakes("[model.encodr]\nwidths = [1]",
                  "r.toml:1: unknown section [model.encodr]; did you mean [model.encoder]?");
  expect_mistakes("steps = 7", "r.toml:1: unknown key 'steps'; did you mean 'train.steps'?");
  expect_mistakes("titel = 'x'", "r.toml:1: unknown key 'titel'; did you mean 'title'?");
  expect_mistakes("[model]\nx = 1", "r.toml:2: unknown key 'model.x'; did you mean 'model.encoder.betas'?");
  expect_mistakes("train = 1", "r.toml:1: 'train' is a section: write [train] above its keys");
  expect_mistakes("[[train]]\nsteps = 1", "r.toml:1: 'train' is a section: write [train] above its keys");
  expect_mistakes("[title]\nx = 1", "r.toml:1: title must be a text in quotes, not a section");
  Fields none;
  expect_error([&] { none.parse("x = 1", "r.toml"); }, "r.toml:1: unknown key 'x'");
  expect_error([&] { none.parse("[x]", "r.toml"); }, "r.toml:1: unknown section [x]");
}

TEST(Recipe, WrongKinds) {
  expect_mistakes("title = 1", "r.toml:1: title must be a text in quotes, not 1");
  expect_mistakes("title = 1979-05-27", "r.toml:1: title must be a text in quotes, not a date or a time");
  expect_mistakes("[train]\nsteps = 'many'",
                  "r.toml:2: train.steps must be a whole number (from 1 to 1000000), not the text 'many'");
  expect_mistakes("[train]\nsteps = 2.0",
                  "r.toml:2: train.steps must be a whole number (from 1 to 1000000), not the real number 2");
  expect_mistakes("[train]\nsteps = [2]",
                  "r.toml:2: train.steps must be a whole number (from 1 to 1000000), not a list");
  expect_mistakes("[train]\nrate = true", "r.toml:2: train.rate must be a number (above 0), not true");
  expect_mistakes("[train]\nshuffle = 1", "r.toml:2: train.shuffle must be true or false, not 1");
  expect_mistakes("[train]\noptimiser = false",
                  "r.toml:2: train.optimiser must be a text in quotes (one of adam, adamw, sgd), not false");
  expect_mistakes("[data]\nfiles = 'a'",
                  "r.toml:2: data.files must be a list in brackets (not empty), not the text 'a'");
  expect_mistakes("[model.encoder]\nwidths = [1, 'a']",
                  "r.toml:2: model.encoder.widths [2] must be a whole number (at least 1), not the text 'a'");
}

TEST(Recipe, WhatCannotBe) {
  expect_mistakes("[train]\nsteps = 0", "r.toml:2: train.steps must be from 1 to 1000000, not 0");
  expect_mistakes("[train]\nsteps = 1000001", "r.toml:2: train.steps must be from 1 to 1000000, not 1000001");
  expect_mistakes("[train]\nrate = 0.0", "r.toml:2: train.rate must be above 0, not 0");
  expect_mistakes("[train]\nrate = 1e39", "r.toml:2: train.rate must be at most 3.4028235e+38, not 1e+39");
  expect_mistakes("[train]\nrate = nan", "r.toml:2: train.rate must be a finite number, not nan");
  expect_mistakes("[train]\ndropout = inf", "r.toml:2: train.dropout must be a finite number, not inf");
  expect_mistakes("[train]\ndropout = 1.0", "r.toml:2: train.dropout must be from 0 to below 1, not 1");
  expect_mistakes("[train]\ndropout = -0.5", "r.toml:2: train.dropout must be from 0 to below 1, not -0.5");
  expect_mistakes("[train]\nthreads = 2147483648",
                  "r.toml:2: train.threads must be from -2147483648 to 2147483647, not 2147483648");
  expect_mistakes("[train]\nseed = -1", "r.toml:2: train.seed must be from 0 to 9223372036854775807, not -1");
  expect_mistakes("[train]\noptimiser = 'adma'",
                  "r.toml:2: train.optimiser must be one of adam, adamw, sgd, not 'adma'; did you mean 'adam'?");
  expect_mistakes("[model.encoder]\nwidths = [1, 0]", "r.toml:2: model.encoder.widths [2] must be at least 1, not 0");
  expect_mistakes("[data]\nfiles = []", "r.toml:2: data.files must not be empty");
  expect_mistakes("[data]\nfiles = ['']", "r.toml:2: data.files [1] must not be empty");
}

TEST(Recipe, AllMistakesAtOnce) {
  Options options;
  const std::vector<std::string> overrides = {"train.thread=1", "train.seed=7"};
  expect_error(
      [&] {
        fields_of(options).parse("[train]\nsteps = 0\nrate = 'x'\nzzz = 1\ndropout = 0.5\n[nodata]\n", "r.toml",
                                 overrides);
      },
      "r.toml:2: train.steps must be from 1 to 1000000, not 0\n"
      "r.toml:3: train.rate must be a number (above 0), not the text 'x'\n"
      "r.toml:4: unknown key 'train.zzz'; did you mean 'train.rate'?\n"
      "r.toml:6: unknown section [nodata]; did you mean [data]?\n"
      "--set train.thread=1: unknown key 'train.thread'; did you mean 'train.threads'?");
  EXPECT_EQ(options.steps, 1000) << "a mistake must change nothing";
  EXPECT_EQ(options.dropout, 0.5) << "what is right is taken";
  EXPECT_EQ(options.seed, 7u);
}

TEST(Recipe, Syntax) {
  const auto expect_line = [](const std::string& toml, const std::string& line) {
    try {
      parsed(toml);
      ADD_FAILURE() << "no error: " << toml;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, line.size()), line) << error.what();
    }
  };
  expect_line("[train]\nsteps = \n", "r.toml:2: ");
  expect_line("[train\n", "r.toml:1: ");
  expect_line("[\nsteps = 1\n", "r.toml:1: ");
  expect_line("[train]\nsteps = 1\nsteps = 2\n", "r.toml:3: ");
  expect_line("[train]\n[data]\n\n[train]\n", "r.toml:4: ");
  expect_line("title = \"\xff\"\n", "r.toml:1: ");
  expect_line("title = 'x", "r.toml:1: ");
}

TEST(Recipe, Overrides) {
  const Options o = parsed("[train]\nsteps = 5\n",
                           {"train.steps=6", "train.rate=2", "train.shuffle=false", "train.optimiser=sgd",
                            "title=a = \"b\" # c", "data.files=[\"x\", 'y']", "train.steps=7", "train.dropout=1e-2"});
  EXPECT_EQ(o.steps, 7) << "the last one counts";
  EXPECT_EQ(o.rate, 2.0f);
  EXPECT_FALSE(o.shuffle);
  EXPECT_EQ(o.optimiser, "sgd");
  EXPECT_EQ(o.title, "a = \"b\" # c");
  EXPECT_EQ(o.files, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(o.dropout, 0.01);
  EXPECT_EQ(parsed("", {"title="}).title, "");
  EXPECT_EQ(parsed("", {"title=7"}).title, "7");
  EXPECT_EQ(parsed("", {"title=\"7\\n\""}).title, "7\n");
  EXPECT_EQ(parsed("", {"title=\"half"}).title, "\"half");

  expect_bad_override("train.steps", "it must be section.name=value");
  expect_bad_override("=7", "it must be section.name=value");
  expect_bad_override("train.stesp=7", "unknown key 'train.stesp'; did you mean 'train.steps'?");
  expect_bad_override("train=7", "'train' is a section: name one of its keys");
  expect_bad_override("train.steps=0", "train.steps must be from 1 to 1000000, not 0");
  expect_bad_override("train.steps=", "train.steps must be a whole number (from 1 to 1000000), not the text ''");
  expect_bad_override("train.steps=many",
                      "train.steps must be a whole number (from 1 to 1000000), not the text 'many'");
  expect_bad_override("train.steps=1\ntrain=2", "train.steps must be one value");
  expect_bad_override("train.shuffle=yes", "train.shuffle must be true or false, not the text 'yes'");
  expect_bad_override("train.optimiser=adma",
                      "train.optimiser must be one of adam, adamw, sgd, not 'adma'; did you mean 'adam'?");
  expect_bad_override("data.files=x", "data.files must be a list in brackets (not empty), not the text 'x'");
  expect_bad_override("title=\xff", "title must be valid UTF-8");
}

TEST(Recipe, WhatMustBeSaid) {
  std::string source;
  int64_t classes = 0;
  float rate = 0.1f;
  Fields fields;
  fields.add("data.source", source, "file to learn from", Limit::not_empty());
  fields.add("model.classes", classes, "", Limit::at_least(2));
  fields.add("train.rate", rate, "of learning", Limit::between(0, 0.1));  // 0.1f is a little more than 0.1
  expect_error([&] { fields.parse("", "r.toml"); },
               "r.toml: data.source is missing (file to learn from)\nr.toml: model.classes is missing (at least 2)");
  expect_error([&] { fields.parse("[data]\nsource = ''\n[model]\nclasses = 1\n", "r.toml"); },
               "r.toml:2: data.source must not be empty\nr.toml:4: model.classes must be at least 2, not 1");
  const std::vector<std::string> overrides = {"data.source=x", "model.classes=3"};
  fields.parse("", "r.toml", overrides);
  EXPECT_EQ(source, "x");
  EXPECT_EQ(classes, 3);
}

TEST(Recipe, TheCompleteText) {
  Options options;
  EXPECT_EQ(fields_of(options).text(), R"(# of the run
title = "none"

# How long and how fast.
[train]
# updates in all (from 1 to 1000000)
steps = 1000
# of learning (above 0)
rate = 0.001
# from 0 to below 1
dropout = 0.1
# the examples, before each epoch
shuffle = true
# who makes the step (one of adam, adamw, sgd)
optimiser = "adam"
seed = 1
# at least 1
threads = 2

[model.encoder]
# of the layers, from the bottom up (at least 1)
widths = [1, 2]
betas = [0.9, 0.999]

[data]
# what is read (not empty)
files = ["a", "b"]
)");
}

TEST(Recipe, LongCommentsAreWrapped) {
  bool flag = false;
  Fields fields;
  std::string help;
  for (int i = 0; i < 60; ++i) help += "word ";
  fields.add("flag", flag, help + "\nand a line");
  const std::string text = fields.text();
  size_t longest = 0, lines = 0;
  for (size_t at = 0; at < text.size(); ++lines) {
    const size_t end = text.find('\n', at);
    longest = std::max(longest, end - at);
    at = end + 1;
  }
  EXPECT_LE(longest, 100u);
  EXPECT_GT(longest, 90u);
  EXPECT_EQ(lines, 6u) << text;
  EXPECT_NE(text.find("\n# and a line\nflag = false\n"), std::string::npos) << text;
}

TEST(Recipe, TheTextReadsBack) {
  std::mt19937_64 random(5);
  const auto real = [&] {
    for (;;)
      if (const auto number = std::bit_cast<double>(random()); std::isfinite(number)) return number;
  };
  for (int round = 0; round < 300; ++round) {
    Options from, to;
    from.title.clear();
    for (uint32_t letter = random() % 20; letter > 0; --letter) from.title += static_cast<char>(random() % 128);
    from.title += "\xc3\xa9";
    from.steps = static_cast<int64_t>(random() % 1000000) + 1;
    from.dropout = std::generate_canonical<double, 53>(random);
    do from.rate = std::abs(std::bit_cast<float>(static_cast<uint32_t>(random())));
    while (!std::isfinite(from.rate) || from.rate == 0);
    from.shuffle = random() % 2;
    from.optimiser = round % 2 ? "sgd" : "adamw";
    from.seed = random() >> 1;
    from.widths.assign(random() % 4, 1 + static_cast<int64_t>(random() >> 2));
    from.betas = {real(), -0.0, 1e22, 3.0};
    from.files.assign(1 + random() % 3, "\\ \" # \n\t\x7f");
    const std::string text = fields_of(from).text();
    fields_of(to).parse(text, "r.toml");
    EXPECT_EQ(fields_of(to).text(), text) << "not stable";
    EXPECT_EQ(to.title, from.title);
    EXPECT_EQ(to.steps, from.steps);
    EXPECT_EQ(to.rate, from.rate) << text;
    EXPECT_EQ(to.dropout, from.dropout);
    EXPECT_EQ(to.shuffle, from.shuffle);
    EXPECT_EQ(to.optimiser, from.optimiser);
    EXPECT_EQ(to.seed, from.seed);
    EXPECT_EQ(to.widths, from.widths);
    EXPECT_EQ(to.betas, from.betas);
    EXPECT_EQ(to.files, from.files);
  }
}

// The section [attention] is attend::Options, with no list of its own.
TEST(Recipe, AVisitedStruct) {
  attend::Options attention;
  Fields fields;
  fields.section("attention", "What looks at what.");
  attend::each_option(attention, fields.visitor("attention"));
  fields.limit("attention.heads", Limit::between(1, 64));
  const std::vector<std::string> overrides = {"attention.score=additive"};
  fields.parse("[attention]\nheads = 8\nregion = \"causal+sliding_window\"\nsigma = 2\nproject = true\n", "r.toml",
               overrides);
  EXPECT_EQ(attention.heads, 8);
  EXPECT_EQ(attention.region, "causal+sliding_window");
  EXPECT_EQ(attention.sigma, 2.0f);
  EXPECT_TRUE(attention.project);
  EXPECT_EQ(attention.score, "additive");
  const std::string text = fields.text();
  EXPECT_NE(text.find("# What looks at what.\n[attention]\n"), std::string::npos);
  EXPECT_NE(text.find("\nregion = \"causal+sliding_window\"\n"), std::string::npos);
  int count = 0;
  attend::each_option(attention, [&](const char* name, const auto&) {
    EXPECT_NE(text.find(fmt::format("\n{} = ", name)), std::string::npos) << name;
    ++count;
  });
  EXPECT_GT(count, 30);
  attend::Options same;
  Fields again;
  attend::each_option(same, again.visitor("attention"));
  again.parse(text, "config.toml");
  EXPECT_EQ(same.heads, 8);
  expect_error([&] { fields.parse("[attention]\nheads = 0\nkvheads = 1", "r.toml"); },
               "r.toml:2: attention.heads must be from 1 to 64, not 0\n"
               "r.toml:3: unknown key 'attention.kvheads'; did you mean 'attention.kv_heads'?");
}

TEST(Recipe, FromAFile) {
  const TemporaryFolder folder;
  spill(folder / "r.toml", "[train]\nsteps = 5\nrates = 1\n");
  Options options;
  expect_error(
      [&] { fields_of(options).read(folder / "r.toml"); },
      fmt::format("{}:3: unknown key 'train.rates'; did you mean 'train.rate'?", (folder / "r.toml").string()));
  EXPECT_EQ(options.steps, 5);
  expect_error([&] { fields_of(options).read(folder / "no.toml"); },
               fmt::format("cannot open '{}': No such file or directory", (folder / "no.toml").string()));
}

TEST(Recipe, ValuesAreComparedAndCopiedAsTheyAre) {
  Options a, b;
  b.steps = 7;
  b.rate = 0.1f;
  b.files = {"c\n\" = [d]"};
  Fields of_a = fields_of(a);
  const Fields of_b = fields_of(b);
  int64_t other = 3;
  of_a.add("train.other", other, "that the second has not");
  EXPECT_EQ(of_a.values().at("train.other"), "3");
  std::vector<std::string> told;
  for (const auto& [key, here, there] : of_a.differences(of_b)) told.push_back(key + ": " + here + ", " + there);
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0], "data.files: [\"a\", \"b\"], [\"c\\n\\\" = [d]\"]");
  EXPECT_EQ(told[1].substr(0, 12), "train.rate: ");
  EXPECT_EQ(told[2], "train.steps: 1000, 7");
  const std::set<std::string> wanted = {"train.steps", "data.files", "train.other", "nothing"};
  EXPECT_EQ(of_a.copy(of_b, wanted), (std::set<std::string>{"train.steps", "data.files"}));
  EXPECT_EQ(a.steps, 7);
  EXPECT_EQ(a.rate, 1e-3f);
  EXPECT_EQ(a.files, b.files);
  EXPECT_EQ(other, 3);
}

TEST(Recipe, SectionsOfOthersArePassedOver) {
  Options o;
  Fields fields = fields_of(o);
  fields.pass_over("more");
  fields.pass_over("train");
  fields.parse("title = \"t\"\n[train]\nsteps = 3\nanything = 1\n[more]\nx = 1\n[more.y]\nz = 2\n", "r.toml");
  EXPECT_EQ(o.steps, 3);
  expect_error([&] { fields.parse("[train]\nsteps = 0\n[most]\nx = 1\n", "r.toml"); },
               "r.toml:2: train.steps must be from 1 to 1000000, not 0\nr.toml:3: unknown section [most]; did you mean "
               "[more]?");
}

TEST(Recipe, OneValueOfAText) {
  const std::string text = "# \u00e4\n[data]\nfolder = \"\u00fc/\u00e4\"  # where\nother = 1\n[more]\nfolder = 'x'\n";
  EXPECT_EQ(file::peek_integer(text, "data.other"), 1);
  EXPECT_EQ(file::peek_integer(text, "data.folder"), std::nullopt);
  EXPECT_EQ(file::peek_integer("= [", "data.folder"), std::nullopt);
  EXPECT_EQ(file::with_text(text, "data.folder", "a \"b\""),
            "# \u00e4\n[data]\nfolder = \"a \\\"b\\\"\"  # where\nother = 1\n[more]\nfolder = 'x'\n");
  EXPECT_EQ(file::peek(file::with_text(text, "more.folder", "yz"), "more.folder"), "yz");
  for (const char* key : {"data.other", "data.nothing"})
    expect_error([&] { file::with_text(text, key, "a"); },
                 std::string("the value of ") + key + " cannot be changed: it is not written as heed does");
}

TEST(Recipe, MistakesOfTheProgram) {
  int64_t a = 0;
  Fields fields;
  fields.add("a", a, "");
  expect_error([&] { fields.add("a", a, ""); }, "recipe: the key 'a' was added twice");
  expect_error([&] { fields.limit("b", Limit::at_least(1)); }, "recipe: there is no key 'b' that could be limited");
  expect_error([&] { fields.former_key("c", "b"); }, "recipe: there is no key 'b' that 'c' could have become");
}

// ------------------------------------------------------------------------------------------ words of earlier versions

enum class Shape { round, square };
constexpr Choice<Shape> kShapes[] = {{"round", Shape::round, "circle"}, {"square", Shape::square}};

struct Renamings {
  std::string shape = "square", separator;
  int64_t normalise = 1;

  Fields fields() {
    Fields f;
    f.add("data.shape", shape, "", Limit::one_of(kShapes));
    f.add("data.separator", separator, "");
    f.former_key("data.between", "data.separator");
    f.add("data.normalise", normalise, "");
    return f;
  }
};

TEST(Recipe, FormerWordsAreReadAsThoseOfToday) {
  Renamings r;
  std::vector<std::string> notes;
  const std::vector<std::string> overrides = {"data.shape=circle"};
  const std::set<std::string> given =
      r.fields().parse("[data]\nshape = \"circle\"\nbetween = \",\"\n", "r.toml", overrides, &notes);
  EXPECT_EQ(given, (std::set<std::string>{"data.shape", "data.separator"}));
  EXPECT_EQ(r.shape, "round");
  EXPECT_EQ(r.separator, ",");
  EXPECT_EQ(notes, (std::vector<std::string>{"'circle' is now called 'round'",
                                             "'data.between' is now called 'data.separator'"}));
  EXPECT_EQ(r.fields().text(), "[data]\n# one of round, square\nshape = \"round\"\nseparator = \",\"\nnormalise = 1\n");
  EXPECT_EQ(value_of(kShapes, "circle"), Shape::round);
  EXPECT_TRUE(has_word(kShapes, "circle"));
  notes.clear();
  r.fields().parse(r.fields().text(), "r.toml", std::vector<std::string>{"data.between=;"}, &notes);
  EXPECT_EQ(r.separator, ";");
  EXPECT_EQ(notes.size(), 1u);
}

TEST(Recipe, OneKeyUnderTwoNames) {
  Renamings r;
  expect_error([&] { r.fields().parse("[data]\nbetween = \",\"\nseparator = \";\"\n", "r.toml"); },
               "r.toml:3: data.separator is given twice: 'data.separator' is another name of it");
}

TEST(Recipe, BothSpellings) {
  Renamings r;
  std::vector<std::string> notes;
  r.fields().parse("[data]\nnormalize = 5\n", "r.toml", {}, &notes);
  EXPECT_EQ(r.normalise, 5);
  EXPECT_TRUE(notes.empty());  // neither is the former one
  r.fields().parse("", "r.toml", std::vector<std::string>{"data.normalize=6"}, &notes);
  EXPECT_EQ(r.normalise, 6);
}

// Keys that exist once they are named.

struct Named {
  std::map<std::string, int64_t> values;

  Fields fields() {
    Fields f;
    f.section("a", "");
    for (auto& [key, value] : values) f.add_on_demand("a." + key, value, "said");
    f.on_demand("a", [this](Fields& fields, const std::string& key) -> std::optional<std::string> {
      const std::string name = key.substr(2);
      if (name.ends_with("never")) return "'" + key + "' is never there";
      if (!name.ends_with("size")) return {};
      fields.add_on_demand(key, values[name], "said", Limit::at_least(1));
      return "";
    });
    return f;
  }
};

TEST(OnDemand, AreThereOnceTheyAreNamed) {
  Named named;
  const std::vector<std::string> overrides = {"a.c.d.size=7"};
  Fields fields = named.fields();
  EXPECT_TRUE(fields.keys().empty());
  const auto given = fields.parse("[a.b]\nsize = 3\n[a.c.d]\nsize = 4\n", "r.toml", overrides);
  EXPECT_EQ(given, (std::set<std::string>{"a.b.size", "a.c.d.size"}));
  EXPECT_EQ(named.values, (std::map<std::string, int64_t>{{"b.size", 3}, {"c.d.size", 7}}));
  EXPECT_EQ(named.fields().keys_on_demand(), given);
  Named again;
  again.fields().parse(named.fields().text(), "again.toml");
  EXPECT_EQ(again.values, named.values);
}

TEST(OnDemand, MistakesAreToldAsUsual) {
  Named named;
  expect_error([&] { named.fields().parse("[a.b]\nnever = 1\n", "r.toml"); }, "r.toml:2: 'a.b.never' is never there");
  expect_error([&] { named.fields().parse("[a.b]\nother = 1\n", "r.toml"); }, "r.toml:2: unknown key 'a.b.other'");
  expect_error([&] { named.fields().parse("[a.b]\nsize = 0\n", "r.toml"); },
               "r.toml:2: a.b.size must be at least 1, not 0");
}

TEST(OnDemand, DifferWhereOnlyOneHasThem) {
  Named here, there;
  here.values["b.size"] = 3;
  Fields mine = here.fields(), theirs = there.fields();
  ASSERT_EQ(mine.differences(theirs).size(), 1u);
  EXPECT_EQ(mine.differences(theirs).front().there, "not set");
  EXPECT_EQ(theirs.differences(mine).front().here, "not set");
  EXPECT_EQ(theirs.copy(mine, {"a.b.size"}), (std::set<std::string>{"a.b.size"}));
  EXPECT_EQ(there.values["b.size"], 3);
  EXPECT_TRUE(theirs.knows("a.c.size"));
  EXPECT_FALSE(theirs.knows("a.c.other"));
}

TEST(Limit, Text) {
  EXPECT_EQ(Limit{}.text(), "");
  EXPECT_EQ(Limit::at_least(1).text(), "at least 1");
  EXPECT_EQ(Limit::above(0).text(), "above 0");
  EXPECT_EQ(Limit::between(0, 0.5).text(), "from 0 to 0.5");
  EXPECT_EQ(Limit::from_to_below(0, 1).text(), "from 0 to below 1");
  EXPECT_EQ((Limit{.least = Limit::Bound{0, false}, .most = Limit::Bound{1}}).text(), "above 0, at most 1");
  EXPECT_EQ((Limit{.least = Limit::Bound{0, false}, .most = Limit::Bound{1, false}}).text(), "above 0, below 1");
  EXPECT_EQ((Limit{.most = Limit::Bound{1}}).text(), "at most 1");
  EXPECT_EQ((Limit{.most = Limit::Bound{1, false}}).text(), "below 1");
  EXPECT_EQ(Limit::one_of({"a", "b"}).text(), "one of a, b");
  EXPECT_EQ(Limit::not_empty().text(), "not empty");
}

}  // namespace
}  // namespace heed::test
