// State::select() keeps, reorders, repeats and leaves out rows: each goes on as if it were alone.
#include <random>

#include "heed/base/error.h"
#include "heed/tensor/off_tape_matrix.h"
#include "tests/model/search/found.h"

namespace heed::search::test {
namespace {

TEST(SelectRows, AnyOrder) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto before = static_cast<int64_t>(1 + random() % 6), after = static_cast<int64_t>(random() % 8);
    constexpr int64_t kStride = 3, kUsed = 2;
    std::vector<float> data;
    for (int64_t i = 0; i < before * kStride; ++i) data.push_back(static_cast<float>(i));
    const std::vector<float> old = data;
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < after; ++i) rows.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(before)));
    select_rows(data, kStride, kUsed, rows);
    ASSERT_EQ(std::ssize(data), after * kStride);
    for (int64_t i = 0; i < after; ++i)
      for (int64_t c = 0; c < kUsed; ++c)
        ASSERT_EQ(data[static_cast<size_t>(i * kStride + c)],
                  old[static_cast<size_t>(rows[static_cast<size_t>(i)] * kStride + c)]);
  }
}

/// A row of a search: which source it reads and what it has said.
struct Row {
  int64_t source;
  std::vector<int32_t> tokens = {};
};

std::vector<float> logits_alone(const model::Seq2Seq& model, const std::vector<int32_t>& source,
                                const std::vector<int32_t>& said) {
  Tape tape(kQuiet);
  const auto state = model.start(tape, data::Sources::of(source), 9);
  Tensor logits;
  for (size_t t = 0; t < said.size(); ++t) logits = model.step(std::vector<int32_t>{said[t]}, *state, tape);
  return {logits.row(0), logits.row(0) + logits.cols()};
}

class Select : public testing::TestWithParam<Way> {};

TEST_P(Select, GoesOnAsIfAlone) {
  const Decided made(GetParam().options());
  const Texts texts(ragged_sources());
  for (const uint64_t seed : {1, 2}) {
    std::mt19937_64 random(seed);
    Tape tape(kQuiet);
    const auto state = made.model.start(tape, texts.sources, 9);
    std::vector<Row> rows;
    for (int64_t b = 0; b < std::ssize(texts.texts); ++b) rows.push_back({b});
    for (int64_t t = 0; t < 6; ++t) {
      std::vector<int32_t> tokens;
      for (Row& row : rows) {
        tokens.push_back(t == 0 ? kStart : static_cast<int32_t>(3 + random() % (kVocabulary - 3)));
        row.tokens.push_back(tokens.back());
      }
      tape.reset();
      const Tensor logits = made.model.step(tokens, *state, tape);
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto right = logits_alone(made.model, texts.texts[static_cast<size_t>(rows[i].source)], rows[i].tokens);
        for (size_t v = 0; v < right.size(); ++v)
          ASSERT_NEAR(logits.row(static_cast<int64_t>(i))[v], right[v], 3e-5) << "step " << t << ", row " << i;
      }
      std::vector<int64_t> chosen;  // in any order, also so that rows of one sentence stand apart
      for (uint64_t i = 0; i < 1 + random() % 9; ++i) chosen.push_back(static_cast<int64_t>(random() % rows.size()));
      if (seed == 2) std::sort(chosen.begin(), chosen.end());
      state->select(chosen);
      std::vector<Row> next;
      next.reserve(chosen.size());
      for (const int64_t row : chosen) next.push_back(rows[static_cast<size_t>(row)]);
      rows = next;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Select, testing::ValuesIn(ways()), model::test::name_of_way);

TEST(SelectRows, RefusesRowsThatDoNotExist) {
  const Decided made(model::test::small("rnn"));
  Tape tape(kQuiet);
  const Texts texts(ragged_sources());
  const auto state = made.model.start(tape, texts.sources, 9);
  EXPECT_THROW(state->select(std::vector<int64_t>{5}), Error);
  EXPECT_THROW(state->select(std::vector<int64_t>{-1}), Error);
}

}  // namespace
}  // namespace heed::search::test
