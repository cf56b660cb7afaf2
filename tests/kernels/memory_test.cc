// What the library keeps between calls: the second of two equal calls allocates nothing, a call inside a call finds
// memory of its own, and a large plan is not kept.
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/expect.h"

// ------------------------------------------------------------------- every allocation of this program, by every thread

namespace {

std::atomic<int64_t> g_count{0}, g_live{0}, g_peak{0};  // allocations; bytes in use, now and at most

void* counted(void* at) {
  if (!at) return nullptr;
  g_count += 1;
  const int64_t live = g_live += static_cast<int64_t>(malloc_usable_size(at));
  for (int64_t peak = g_peak; live > peak && !g_peak.compare_exchange_weak(peak, live);) continue;
  return at;
}
void* counted_or_throw(void* at) {
  if (!at) throw std::bad_alloc();
  return counted(at);
}
void release(void* at) {
  if (at) g_live -= static_cast<int64_t>(malloc_usable_size(at));
  std::free(at);
}
void* aligned(size_t bytes, std::align_val_t align) {
  const size_t to = static_cast<size_t>(align);
  return std::aligned_alloc(to, (bytes + to - 1) / to * to);
}

}  // namespace

void* operator new(size_t n) { return counted_or_throw(std::malloc(n)); }
void* operator new(size_t n, const std::nothrow_t&) noexcept { return counted(std::malloc(n)); }
void* operator new(size_t n, std::align_val_t a) { return counted_or_throw(aligned(n, a)); }
void* operator new(size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return counted(aligned(n, a)); }
void operator delete(void* at) noexcept { release(at); }
void operator delete(void* at, size_t) noexcept { release(at); }
void operator delete(void* at, std::align_val_t) noexcept { release(at); }
void operator delete(void* at, size_t, std::align_val_t) noexcept { release(at); }

namespace heed::kernels::test {
namespace {

template <class F>
int64_t allocations(F&& f) {
  const int64_t before = g_count;
  f();
  return g_count - before;
}

TEST(Memory, AllocationsAreSeen) {
  constexpr std::align_val_t kLine{64};
  EXPECT_EQ(allocations([] { ::operator delete(::operator new(4)); }), 1);
  EXPECT_EQ(allocations([] { ::operator delete(::operator new(4, kLine, std::nothrow), kLine); }), 1);
}

/// Calls forward and backward until nothing is new, then once more.
void expect_no_allocation(const Case& c) {
  on_every_isa([&] {
    Library l(c, {}, 1);
    for (int warm = 0; warm < 2; ++warm) ASSERT_TRUE(l.forward().ok() && l.backward().ok());
    EXPECT_EQ(allocations([&] { (void)forward(l.problem, l.inputs, l.outputs); }), 0) << "forward";
    EXPECT_EQ(allocations([&] { (void)backward(l.backward_problem, l.inputs, l.from, l.to); }), 0) << "backward";
  });
}

/// Few queries, as in a decoder, a memory that is read in parts, and several tiles both ways.
std::vector<Shape> shapes() {
  return {{.batch = 2, .heads = 2, .queries = 3, .keys = 32, .dim = 8, .value_dim = 8},
          {.batch = 1, .heads = 2, .kv_heads = 1, .queries = 1, .keys = 1300, .dim = 8, .value_dim = 8},
          {.batch = 2, .heads = 2, .kv_heads = 1, .queries = 101, .keys = 130, .dim = 8, .value_dim = 8}};
}

class SecondCall : public testing::TestWithParam<Part> {};

TEST_P(SecondCall, AllocatesNothing) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.queries);
    Case c(shape);
    GetParam().apply(c);
    expect_no_allocation(c.fill(1));
  }
}

std::vector<Part> biases() {
  return {{"tensor", [](Case& c) { c.with_tensor(true, true, true, true); }},
          {"one_bias", [](Case& c) { c.with_tensor(false, false, false, false); }},
          {"alibi", [](Case& c) { c.with_alibi(); }},
          {"relative", [](Case& c) { c.with_relative(5, true); }},
          {"sink", [](Case& c) { c.with_sink(); }},
          {"dropout", [](Case& c) { c.problem.dropout.p = 0.3f; }}};
}

const auto by_name = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Scores, SecondCall, testing::ValuesIn(all_scores()), by_name);
INSTANTIATE_TEST_SUITE_P(Regions, SecondCall, testing::ValuesIn(all_regions()), by_name);
INSTANTIATE_TEST_SUITE_P(Normalisers, SecondCall, testing::ValuesIn(all_normalisers()), by_name);
INSTANTIATE_TEST_SUITE_P(Biases, SecondCall, testing::ValuesIn(biases()), by_name);

TEST(Memory, RaggedAllocatesNothing) {
  for (const bool tanh_sum : {false, true})
    for (const bool causal : {false, true}) {
      Case c({.heads = 2, .dim = 6, .value_dim = 5});
      c.with_ragged({1, 17, 0, 130, 1}, {5, 9, 3, 131, 1});
      if (tanh_sum) c.with_tanh_sum();
      c.problem.region.causal = causal;
      c.problem.region.window_left = causal ? 20 : -1;
      expect_no_allocation(c.fill(2));
    }
}

// A helper may come for the first time in any call, and then takes its memory; what is taken does not grow with the
// calls.
TEST(Memory, ThreadsAllocateOnce) {
  for (const Shape& shape : shapes())
    on_every_isa([&] {
      const Case c = Case(shape).fill(3);
      Library l(c, {}, 2);
      ASSERT_TRUE(l.forward().ok() && l.backward().ok());
      const int64_t made = allocations([&] {
        for (int call = 0; call < 100; ++call) {
          (void)forward(l.problem, l.inputs, l.outputs);
          (void)backward(l.backward_problem, l.inputs, l.from, l.to);
        }
      });
      EXPECT_LE(made, 20);
    });
}

// A decoder: one key more with each call.
TEST(Memory, GrowingKeysAllocateSeldom) {
  const int64_t steps = 200;
  Case c({.heads = 2, .queries = 1, .keys = steps, .dim = 8, .value_dim = 8});
  c.fill(4);
  Library l(c, {}, 1);
  ASSERT_TRUE(l.forward().ok());
  const int64_t made = allocations([&] {
    for (l.problem.shape.keys = 1; l.problem.shape.keys <= steps; ++l.problem.shape.keys)
      ASSERT_TRUE(forward(l.problem, l.inputs, l.outputs).ok());
  });
  EXPECT_EQ(made, 0);  // the longest came first
  std::thread([&] {    // a thread that has nothing yet
    const int64_t here = allocations([&] {
      for (l.problem.shape.keys = 1; l.problem.shape.keys <= steps; ++l.problem.shape.keys)
        ASSERT_TRUE(forward(l.problem, l.inputs, l.outputs).ok());
    });
    EXPECT_LE(here, 20);
  })
      .join();
}

// A plan of 10^5 tasks is 2 MB and more; of that at most 1 MiB stays.
TEST(Memory, LargePlansAreNotKept) {
  Case c({.batch = 100000, .queries = 1, .keys = 1, .dim = 1, .value_dim = 1});
  c.fill(5);
  Library l(c, {}, 1);
  const int64_t before = g_live;
  g_peak = before;
  ASSERT_TRUE(forward(l.problem, l.inputs, l.outputs).ok());
  EXPECT_GT(g_peak - before, 2 << 20);
  EXPECT_LT(g_live - before, (1 << 20) + 4 * explain(l.problem).scratch_bytes);
}

/// A score that asks the library for another, larger attention before it answers.
struct AsksTheLibrary {
  Library& other;

  float score(const float* q, const float* k, int64_t) const {
    if (!kernels::forward(other.problem, other.inputs, other.outputs).ok()) return -1e9f;
    return q[0] * k[0];
  }
  void backward(const float* q, const float* k, int64_t, float d_score, float* d_q, float* d_k) const {
    if (!kernels::forward(other.problem, other.inputs, other.outputs).ok()) return;
    d_q[0] += d_score * k[0];
    d_k[0] += d_score * q[0];
  }
};

TEST(Memory, CallInsideACall) {
  Case inside({.heads = 2, .queries = 40, .keys = 130, .dim = 8, .value_dim = 8});
  inside.problem.normalise.kind = Normaliser::entmax15;
  inside.fill(6);
  Library other(inside, {}, 1);
  const AsksTheLibrary asks{other};
  const CustomScore custom = custom_score(asks);

  Case c({.queries = 5, .keys = 9, .dim = 1, .value_dim = 3});
  c.fill(7);
  on_every_isa([&] {
    Library plain(c, {}, 1), nested(c, {}, 1);
    nested.problem.score.kind = ScoreKind::custom;
    nested.problem.score.custom = &custom;
    for (Library* l : {&plain, &nested}) ASSERT_TRUE(l->forward().ok() && l->backward().ok());
    Expected expected(c, true);
    expected.compare_results(nested.results, false);
    expected.compare_gradients(nested.grad);
    // And from the rows of weights().
    std::vector<float> rows, again;
    const auto keep = [](std::vector<float>& to, bool ask, Library& ask_of) {
      return [&to, ask, &ask_of](int64_t, int64_t, int64_t, const float* weights, int64_t keys) {
        to.insert(to.end(), weights, weights + keys);
        EXPECT_TRUE(!ask || kernels::forward(ask_of.problem, ask_of.inputs, ask_of.outputs).ok());
      };
    };
    ASSERT_TRUE(plain.weights({.row = keep(rows, false, other)}).ok());
    ASSERT_TRUE(plain.weights({.row = keep(again, true, other)}).ok());
    EXPECT_TRUE(same_bits(rows, again));
  });
}

}  // namespace
}  // namespace heed::kernels::test
