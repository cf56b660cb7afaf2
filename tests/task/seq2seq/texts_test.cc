#include "heed/task/seq2seq/texts.h"

#include <set>

#include "heed/checkpoint/trained_model.h"
#include "tests/train/small_run.h"

namespace heed::task::test {
namespace {

using heed::test::spill;
using heed::test::TemporaryFolder;
using train::test::error_of;
using train::test::expect_in;

class CorpusTest : public testing::Test {
 protected:
  data::Options options(const std::vector<std::string>& overrides) const {
    std::vector<std::string> all = overrides;
    all.insert(all.end(), {"data.folder=" + folder_.path().string(), "stop.steps=1"});
    return recipe::parse("", "test", all).data;
  }
  Corpus corpus(const data::Options& o) const {
    TextPairs pairs = load_pairs(o, 1);
    const Vocabularies vocabularies = learn_vocabularies(pairs.train, o);
    return make_corpus(std::move(pairs), vocabularies, o);
  }
  /// word TAB w o r d, some words twice
  std::string words(int count) const {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += "word" + std::to_string(i) + "\tw " + std::to_string(i) + "\n";
      if (i % 3 == 0) text += "word" + std::to_string(i) + "\tv " + std::to_string(i) + "\n";
    }
    return text;
  }
  TemporaryFolder folder_;
};

TEST_F(CorpusTest, AShareOfTheSourcesIsHeldOut) {
  spill(folder_ / "words.tsv", words(300));
  const data::Options o = options({"data.tsv=words.tsv", "data.held_out=0.1"});
  const TextPairs pairs = load_pairs(o, 1);
  const std::set<std::string> train(pairs.train.source.begin(), pairs.train.source.end());
  const std::set<std::string> valid(pairs.valid.source.begin(), pairs.valid.source.end());
  EXPECT_EQ(valid.size(), 30u);
  EXPECT_EQ(train.size(), 270u);
  for (const std::string& source : valid) EXPECT_FALSE(train.contains(source)) << source;
  EXPECT_EQ(pairs.train.size() + pairs.valid.size(), 400);
  EXPECT_EQ(load_pairs(o, 1).valid.source, pairs.valid.source);
  EXPECT_NE(load_pairs(o, 2).valid.source, pairs.valid.source);
}

TEST_F(CorpusTest, SeveralTargetsOfASourceAreReferences) {
  spill(folder_ / "words.tsv", words(30));
  spill(folder_ / "valid.tsv", "word1\tw 1\nword2\tw 2\nword1\tv 1\n");
  const Corpus c = corpus(options({"data.tsv=words.tsv", "data.valid_tsv=valid.tsv", "data.target_tokens=words"}));
  EXPECT_EQ(c.valid->size(), 3);
  ASSERT_EQ(c.references.source.size(), 2u);
  EXPECT_EQ(c.references.targets[0], (std::vector<std::string>{"w 1", "v 1"}));
  const auto& train = dynamic_cast<const data::Examples&>(*c.train);
  EXPECT_EQ(train.target.length(0), 2);         // words
  EXPECT_EQ(train.source.tokens.length(0), 5);  // characters
}

TEST_F(CorpusTest, BadLinesAreNamedAndPairsNeverShift) {
  spill(folder_ / "a", "one\n\ntwo\nb\xff\nthree\nfar too long\nfour\nfive\nsix\n");
  spill(folder_ / "b", "1\n2\n\n4\n3\n6\n4\n5\n6\n");
  const data::Options o = options({"data.source=a", "data.target=b", "data.held_out=0.5", "data.max_source=6"});
  const TextPairs pairs = load_pairs(o, 1);
  data::Pairs all = pairs.train;
  for (size_t i = 0; i < pairs.valid.source.size(); ++i) all.add(pairs.valid.source[i], pairs.valid.target[i], 0);
  for (size_t i = 0; i < all.source.size(); ++i) {
    const std::map<std::string, std::string> right = {{"one", "1"},  {"three", "3"}, {"far too long", "6"},
                                                      {"four", "4"}, {"five", "5"},  {"six", "6"}};
    EXPECT_EQ(all.target[i], right.at(all.source[i]));
  }
  const Corpus c = corpus(o);
  ASSERT_EQ(c.warnings.size(), 1u);
  expect_in((folder_ / "a").string() + ": 4 of 9 lines left out", c.warnings[0]);
  expect_in("1 invalid UTF-8: 4 (source, byte 2)", c.warnings[0]);
  expect_in("2 an empty side: 2 (source), 3 (target)", c.warnings[0]);
  expect_in("1 too long: 6 (source, 12 tokens)", c.warnings[0]);
}

TEST_F(CorpusTest, FilesOfUnequalLengthAreRefused) {
  spill(folder_ / "a", "one\ntwo\n");
  spill(folder_ / "b", "1\n");
  expect_in("not parallel", error_of([&] { load_pairs(options({"data.source=a", "data.target=b"}), 1); }));
}

TEST_F(CorpusTest, TheFingerprintFollowsTheIds) {
  spill(folder_ / "words.tsv", words(30));
  const data::Options o = options({"data.tsv=words.tsv"});
  const std::string before = corpus(o).fingerprint;
  EXPECT_EQ(corpus(o).fingerprint, before);
  spill(folder_ / "words.tsv", words(30).replace(0, 5, "worb0"));
  EXPECT_NE(corpus(o).fingerprint, before);
}

TEST_F(CorpusTest, VocabulariesComeBackFromACheckpoint) {
  spill(folder_ / "words.tsv", words(200));
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"data.target_tokens=words"},
        {"data.joint=true"},
        {"data.source_tokens=sentencepiece", "data.source_size=30", "data.target_tokens=sentencepiece",
         "data.target_size=25", "data.sentencepiece=bpe"}}) {
    std::vector<std::string> overrides = how;
    overrides.push_back("data.tsv=words.tsv");
    const data::Options o = options(overrides);
    const Vocabularies made = learn_vocabularies(load_pairs(o, 1).train, o);
    EXPECT_EQ(made.source == made.target, o.joint);
    file::CheckpointWriter writer;
    const Description description = describe(o, {}, 20);
    made.each_part(description, [&](const std::string& part, std::string text) { writer.add_text(part, text); });
    writer.commit(folder_ / "checkpoint");
    const Vocabularies back = trained::load_vocabularies(file::Checkpoint::open(folder_ / "checkpoint"), description);
    EXPECT_EQ(back.source == back.target, o.joint);
    for (const char* text : {"word17", "w 17", "v 3"}) {
      EXPECT_EQ(back.source->encode(text), made.source->encode(text));
      EXPECT_EQ(back.target->encode(text), made.target->encode(text));
    }
  }
}

TEST_F(CorpusTest, TasksNeedNoFiles) {
  const Corpus c = corpus(options({"data.task=dates", "data.examples=200", "data.valid_examples=50"}));
  EXPECT_EQ(c.train->size(), 200);
  EXPECT_EQ(c.valid->size(), 50);
  EXPECT_TRUE(c.warnings.empty());
}

}  // namespace
}  // namespace heed::task::test
