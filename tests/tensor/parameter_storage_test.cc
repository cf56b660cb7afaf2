// A copy of a weight that inference keeps is never older than the weight.
#include "heed/tensor/parameter_storage.h"

#include <algorithm>
#include <functional>
#include <thread>

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

}  // namespace
}  // namespace heed::test
