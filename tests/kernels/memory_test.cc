// slow: 3 s
// What the library keeps between calls: the second of two equal calls allocates nothing, a call inside a call finds
// memory of its own, and a large plan is not kept. And what it says where there is no memory, on any thread.
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

// Where memory ends: the allocation of this thread that fails (1: the next one; 0: none) ...
thread_local int t_fails = 0;
thread_local bool t_is_test = false;
// ... and the same for every thread but the test's, whichever comes first.
std::atomic<int> g_helper_fails{0}, g_helper_failures{0};

bool fails_now() {
  if (t_fails > 0 && --t_fails == 0) return true;
  if (t_is_test || g_helper_fails <= 0 || --g_helper_fails > 0) return false;
  g_helper_failures += 1;
  return true;
}

void* counted(void* at) {
  if (at && fails_now()) {
    std::free(at);
    return nullptr;
  }
  if (!at) return nullptr;
  g_count += 1;
  const int64_t live = g_live += static_cast<int64_t>(malloc_usable_size(at));
  for (int64_t peak = g_peak; live > peak && !g_peak.compare_exchange_weak(peak, live);) continue;
  return at;
}
void* counted_or_throw(void* at) {
  void* given = counted(at);
  if (!given) throw std::bad_alloc();
  return given;
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

// ----------------------------------------------------------------------------------------------------------- no memory

/// Calls f() until a helper has asked for memory in vain, the `number`th time that it asked. Every call before must
/// succeed, and this one must be refused.
template <class F>
void expect_refused_by_helper(int number, const F& f) {
  t_is_test = true;
  for (int call = 0;; ++call) {
    ASSERT_LT(call, 2000) << "no helper ever came";
    g_helper_failures = 0;
    g_helper_fails = number;
    const Status status = f();
    g_helper_fails = 0;
    if (g_helper_failures == 0) {
      ASSERT_TRUE(status.ok()) << status.message();
      continue;
    }
    EXPECT_NE(status.message().find("memory: not enough"), std::string::npos) << status.message();
    EXPECT_TRUE(status.out_of_memory());
    break;
  }
  t_is_test = false;
}

// First in this program, before other tests give a helper memory to keep: each of these finds a helper that has nothing
// yet. It asks for what a thread keeps, then for the parts of a block; and once the first is kept, for the parts and
// then for tiles.
TEST(NoMemory, OnAHelperIsRefused) {
  const Case c = Case({.batch = 4, .heads = 8, .queries = 200, .keys = 200, .dim = 32, .value_dim = 32}).fill(1);
  Library l(c, {}, 2);
  ASSERT_TRUE(Library(c, {}, 1).forward().ok());
  const auto call = [&] { return forward(l.problem, l.inputs, l.outputs); };
  for (const int number : {1, 2, 2}) expect_refused_by_helper(number, call);
  EXPECT_TRUE(call().ok());  // nothing stays behind
}

TEST(NoMemory, OnAHelperIsRefusedBackward) {
  const Case c = Case({.batch = 4, .heads = 8, .queries = 200, .keys = 200, .dim = 300, .value_dim = 32}).fill(1);
  Library l(c, {}, 2);
  ASSERT_TRUE(l.forward().ok() && l.backward().ok());
  l.backward_problem.threads = 3;
  expect_refused_by_helper(1, [&] { return backward(l.backward_problem, l.inputs, l.from, l.to); });
}

TEST(NoMemory, OnAHelperIsRefusedDecoding) {
  const Case c = Case({.batch = 8, .heads = 8, .queries = 1, .keys = 4000, .dim = 64, .value_dim = 64}).fill(1);
  Library l(c, {}, 4);
  ASSERT_EQ(explain(l.problem).path, "decode");
  expect_refused_by_helper(1, [&] { return forward(l.problem, l.inputs, l.outputs); });
}

/// On a thread that has nothing yet, with the first allocation failing, the second, ... until there is none left to
/// fail: refused, or done all the same (what is kept for the next call is not needed for this one).
template <class F>
void expect_refused_at_every_allocation(const F& f) {
  int refused = 0;
  for (int number = 1;; ++number) {
    ASSERT_LT(number, 1000);
    Status status;
    bool none_failed = false;
    std::thread([&] {
      t_fails = number;
      status = f();
      none_failed = t_fails > 0;
      t_fails = 0;
    }).join();
    refused += !status.ok();
    if (none_failed) {
      EXPECT_TRUE(status.ok()) << status.message();
      break;
    }
    const bool named = status.message().find("memory: not enough") != std::string::npos;
    EXPECT_TRUE(status.ok() || named) << number << ": " << status.message();
  }
  EXPECT_GE(refused, 3);  // what a thread keeps, its arena, its tiles
}

TEST(NoMemory, OnTheCallingThreadIsRefused) {
  for (const bool forced : {false, true})
    for (const Normaliser kind : {Normaliser::softmax, Normaliser::argmax}) {
      Case c({.batch = 2, .heads = 2, .queries = 101, .keys = 130, .dim = 8, .value_dim = 8});
      if (forced && kind == Normaliser::argmax) continue;
      c.problem.normalise.kind = kind;
      c.problem.forced_forward.on = forced;
      c.with_tensor(true, true, true, true).fill(1);
      Library l(c, {}, 1);
      ASSERT_TRUE(l.forward().ok() && l.backward().ok());
      std::vector<float> sums(2 * 2 * 130);
      WeightsRequest request;
      request.column_sums = sums.data();
      request.top_k = 2;
      expect_refused_at_every_allocation([&] { return forward(l.problem, l.inputs, l.outputs); });
      expect_refused_at_every_allocation([&] { return backward(l.backward_problem, l.inputs, l.from, l.to); });
      expect_refused_at_every_allocation([&] { return weights(l.problem, l.inputs, l.outputs, request); });
      expect_refused_at_every_allocation([&] {
        const Explanation e = explain(l.problem);
        Status status;
        if (!e.possible) status.refuse(e.text);
        return status;
      });
    }
}

// --------------------------------------------------------------------------------------------------------- nothing new

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
  // NOLINTNEXTLINE(readability-function-size): what kernels/custom.h calls
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
