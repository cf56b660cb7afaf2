// A copy of a weight that inference keeps is never older than the weight.
#include "heed/tensor/parameter_storage.h"

#include <algorithm>
#include <functional>
#include <thread>

#include "heed/base/error.h"
#include "heed/tensor/format/all.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/linear.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

constexpr TapeOptions kInference{.recording = false, .training = false};

class KeptCopy : public testing::Test {
 protected:
  KeptCopy() {
    weight_.shape = {40, 24};
    weight_.value = to_float(random(40, 24));
  }

  WeightView view() const { return {std::as_const(weight_.value).data(), 24, 40, WeightOrder::out_in}; }
  const PackedWeight* kept() const { return weight_.value.packed(view()).get(); }

  /// What inference gives, with whatever is kept.
  std::vector<float> infer() { return infer(weight_); }
  /// The same from a parameter that keeps nothing yet.
  std::vector<float> right() const {
    Parameter fresh;
    fresh.shape = weight_.shape;
    fresh.value = std::vector<float>(weight_.value.begin(), weight_.value.end());
    return infer(fresh);
  }

  Parameter weight_;
  std::vector<float> x_ = to_float(random(3, 24));

 private:
  std::vector<float> infer(Parameter& weight) const {
    Tape tape(kInference);
    const Tensor y = linear(tape.input(x_.data(), 3, 24), tape.parameter(weight));
    const Tensor z = matmul(tape.input(x_.data(), 1, 40), tape.parameter(weight));
    std::vector<float> all(y.data(), y.data() + y.size());
    all.insert(all.end(), z.data(), z.data() + z.size());
    return all;
  }
};

TEST_F(KeptCopy, IsUsedAgain) {
  infer();
  const PackedWeight* copy = kept();
  infer();
  EXPECT_EQ(kept(), copy);
  Tape recording;
  linear(recording.input(x_.data(), 3, 24), recording.parameter(weight_));
  EXPECT_EQ(kept(), copy) << "reading, on any tape, leaves it";
}

TEST_F(KeptCopy, IsDroppedByEveryWayToWrite) {
  std::vector<float> other = to_float(random(40, 24));
  ParameterStorage moved = to_float(random(40, 24));
  const ParameterStorage copied = moved;
  const std::pair<const char*, std::function<void(ParameterStorage&)>> ways[] = {
      {"data()", [](ParameterStorage& v) { v.data()[7] += 1.0f; }},
      {"[]", [](ParameterStorage& v) { v[8] += 1.0f; }},
      {"for",
       [](ParameterStorage& v) {
         for (float& x : v) x += 1.0f;
       }},
      {"end()", [](ParameterStorage& v) { *(v.end() - 1) += 1.0f; }},
      {"span", [](ParameterStorage& v) { std::span<float>(v)[9] += 1.0f; }},
      {"= vector", [&](ParameterStorage& v) { v = other; }},
      {"= ParameterStorage", [&](ParameterStorage& v) { v = copied; }},
      {"swap", [&](ParameterStorage& v) { other[0] += 1.0f, v.swap(other); }},
      {"= moved ParameterStorage", [&](ParameterStorage& v) { moved[0] -= 1.0f, v = std::move(moved); }},
      {"std::swap",
       [&](ParameterStorage& v) {
         ParameterStorage two = to_float(random(40, 24));
         std::swap(v, two);
       }},
      {"expose()", [](ParameterStorage& v) { v.expose()[10] += 1.0f; }}};
  for (const auto& [name, write] : ways) {
    SCOPED_TRACE(name);
    const std::vector<float> before = infer();
    write(weight_.value);
    const std::vector<float> after = infer();
    EXPECT_NE(after, before);
    EXPECT_EQ(after, right());
  }
}

TEST_F(KeptCopy, IsNotKeptOfWhatIsLent) {
  float* numbers = weight_.value.expose();
  for (int times = 0; times < 3; ++times) {
    const std::vector<float> before = infer();
    numbers[5] += 1.0f;  // as an array in Python: nobody is told
    EXPECT_NE(infer(), before);
    EXPECT_EQ(infer(), right());
  }
}

/// A tensor made before the numbers were exchanged holds the old ones; what it needs must not stay.
TEST_F(KeptCopy, IsOfTheParameterNotOfAnOldTensor) {
  const std::vector<float> before = infer();
  std::vector<float> other = to_float(random(40, 24));
  Tape tape(kInference);
  const Tensor old = tape.parameter(weight_);
  weight_.value.swap(other);
  const Tensor y = linear(tape.input(x_.data(), 3, 24), old);
  EXPECT_EQ(std::vector<float>(y.data(), y.data() + y.size()),
            std::vector<float>(before.begin(), before.begin() + 120));
  EXPECT_NE(infer(), before);
  EXPECT_EQ(infer(), right());
}

TEST_F(KeptCopy, IsMadeOnceForAllThreads) {
  const std::vector<float> expected = right();
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  threads.reserve(results.size());
  for (auto& result : results) threads.emplace_back([&] { result = infer(); });
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

/// What is no parameter is copied at every call, and its rows do not depend on each other either.
TEST_F(KeptCopy, IsNotNeeded) {
  const std::vector<float> x = to_float(random(50, 24));
  Tape tape(kInference);
  const Tensor w = tape.input(std::as_const(weight_.value).data(), 40, 24);
  const Tensor all = linear(tape.input(x.data(), 50, 24), w),
               kept = linear(tape.input(x.data(), 50, 24), tape.parameter(weight_));
  EXPECT_TRUE(std::equal(all.data(), all.data() + all.size(), kept.data()));
  for (int64_t r = 0; r < 50; ++r) {
    const Tensor one = linear(tape.input(x.data() + r * 24, 1, 24), w);
    ASSERT_TRUE(std::equal(one.row(0), one.row(0) + 40, all.row(r))) << r;
  }
}

// --------------------------------------------------------------------------------------- packed for inference, alone

class PackedAlone : public testing::TestWithParam<WeightOrder> {
 protected:
  PackedAlone() {
    weight_.name = "weight";
    weight_.shape = {40, 33};
    weight_.product = GetParam();
    weight_.value = numbers_;
    right_ = infer();
    weight_.value = numbers_;
  }

  /// A product in the order of the weight, and some rows of it: what inference does with one.
  std::vector<float> infer() {
    Tape tape(kInference);
    const Tensor w = tape.parameter(weight_);
    const std::vector<int64_t> rows = {39, 0, 7, 7};
    const Tensor y = GetParam() == WeightOrder::out_in ? linear(tape.input(x_.data(), 3, 33), w)
                                                       : matmul(tape.input(x_.data(), 3, 40), w);
    const Tensor found = gather_rows(w, rows);
    std::vector<float> all(y.data(), y.data() + y.size());
    all.insert(all.end(), found.data(), found.data() + found.size());
    return all;
  }

  const std::vector<float> numbers_ = to_float(random(40, 33));
  std::vector<float> x_ = to_float(random(3, 40)), right_;
  Parameter weight_;
};

TEST_P(PackedAlone, IsOneCopyWithTheSameBits) {
  weight_.pack(float32_weights);
  const size_t padded = GetParam() == WeightOrder::out_in ? 64 * 33 : 64 * 40;  // whole panels
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(infer(), right_);
    EXPECT_TRUE(weight_.value.is_packed()) << "neither products nor single rows need the numbers";
    EXPECT_EQ(weight_.value.bytes(), padded * sizeof(float));
    EXPECT_EQ(weight_.value.size(), numbers_.size());
    EXPECT_FALSE(weight_.value.empty());
  }
}

TEST_P(PackedAlone, GivesTheNumbersBack) {
  weight_.pack(float32_weights);
  EXPECT_EQ(weight_.value.copy(), numbers_);
  std::vector<float> row(33);
  weight_.value.row(38, 33, row.data());
  EXPECT_EQ(row, std::vector<float>(numbers_.begin() + 38 * 33, numbers_.begin() + 39 * 33));
  EXPECT_EQ(ParameterStorage(weight_.value).copy(), numbers_);
  EXPECT_TRUE(weight_.value.is_packed()) << "none of these unpacks it";
  EXPECT_EQ(std::as_const(weight_.value), numbers_);
  EXPECT_FALSE(weight_.value.is_packed()) << "a reader of all numbers may keep a pointer to them";
  EXPECT_EQ(infer(), right_);
}

TEST_P(PackedAlone, IsNumbersAgainWhenWritten) {
  const std::function<void(ParameterStorage&)> ways[] = {
      [](ParameterStorage& v) { v[8] += 1.0f; }, [&](ParameterStorage& v) { v = std::vector<float>(numbers_.size()); },
      [](ParameterStorage& v) { v.expose()[3] = 7.0f; }};
  for (const auto& write : ways)
    for (const WeightFormat* format : all_weight_formats()) {
      weight_.value = ParameterStorage();  // not exposed
      weight_.value = numbers_;
      weight_.pack(*format);
      infer();
      write(weight_.value);
      EXPECT_FALSE(weight_.value.is_packed());
      const std::vector<float> after = infer();
      EXPECT_NE(after, right_);
      Parameter fresh;
      fresh.shape = weight_.shape;
      fresh.value = weight_.value.copy();
      std::swap(weight_.value, fresh.value);
      EXPECT_EQ(infer(), after) << "nothing older than the numbers is used, and nothing is rounded any more";
    }
}

/// An operation that wants the numbers, although the weight was declared to be of products: it gets them.
TEST_P(PackedAlone, AnyOperationMayReadIt) {
  weight_.pack(float32_weights);
  Tape tape(kInference);
  const Tensor t = transpose(tape.parameter(weight_));
  for (int64_t r = 0; r < 40; ++r)
    for (int64_t c = 0; c < 33; ++c) ASSERT_EQ(t.row(c)[r], numbers_[static_cast<size_t>(r * 33 + c)]);
  EXPECT_EQ(infer(), right_);
}

TEST_P(PackedAlone, ReadersDoNotDisturbEachOther) {
  for (int round = 0; round < 20; ++round) {
    weight_.value = numbers_;
    weight_.pack(float32_weights);
    std::vector<std::vector<float>> results(4);
    std::vector<std::thread> threads;
    threads.reserve(results.size());
    for (size_t i = 0; i < results.size(); ++i)
      threads.emplace_back([&, i] {
        const ParameterStorage& values = weight_.value;
        results[i] = i % 2 == 0 ? infer() : std::vector<float>(values.begin(), values.end());
      });
    for (auto& thread : threads) thread.join();
    for (size_t i = 0; i < results.size(); ++i) ASSERT_EQ(results[i], i % 2 == 0 ? right_ : numbers_);
  }
}

TEST_P(PackedAlone, IsNotTrained) {
  weight_.pack(float32_weights);
  Tape recording;
  expect_error(
      [&] { recording.parameter(weight_); },
      "parameter 'weight' is packed for inference and cannot be trained; Parameters::unpack() makes it numbers "
      "again");
  weight_.trainable = false;
  EXPECT_TRUE(recording.parameter(weight_).is_packed()) << "what is not trained may stay packed";
  weight_.trainable = true;
  weight_.value.data();  // as Parameters::unpack()
  EXPECT_FALSE(recording.parameter(weight_).is_packed());
}

TEST_P(PackedAlone, StaysWhatOthersWriteTo) {
  weight_.value.expose();
  weight_.pack(float32_weights);
  EXPECT_FALSE(weight_.value.is_packed()) << "an array of Python points to the numbers";
  Parameter plain;  // no weight of products
  plain.shape = {4};
  plain.value = std::vector<float>{1, 2, 3, 4};
  plain.pack(float32_weights);
  EXPECT_FALSE(plain.value.is_packed());
}

INSTANTIATE_TEST_SUITE_P(Order, PackedAlone, testing::Values(WeightOrder::out_in, WeightOrder::in_out),
                         [](const auto& info) { return info.param == WeightOrder::out_in ? "out_in" : "in_out"; });

}  // namespace
}  // namespace heed::test
