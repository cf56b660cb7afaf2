#include "blas_table.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "buffer.h"
#include "sgemm.h"
#include "timing.h"

namespace heed::bench {
namespace {

struct Gemm {
  std::string name;
  std::function<void(const Sgemm& product)> run;
};

// The CBLAS interface, found at run time: rivals are measured where they are installed and never linked against.
using CblasSgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a,
                            int lda, const float* b, int ldb, float beta, float* c, int ldc);

/// `Count` is the type in which the library's `set_threads` takes the number of threads.
template <class Count>
void add_rival(std::vector<Gemm>& gemms, const char* name, const std::vector<const char*>& files,
               const char* set_threads, int threads) {
  for (const char* file : files) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    const auto sgemm = reinterpret_cast<CblasSgemm>(dlsym(library, "cblas_sgemm"));
    if (!sgemm) continue;
    if (void* set = dlsym(library, set_threads)) reinterpret_cast<void (*)(Count)>(set)(threads);
    constexpr int kRowMajor = 101, kNoTrans = 111;
    gemms.push_back({name, [sgemm](const Sgemm& p) {
                       const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
                       sgemm(kRowMajor, kNoTrans, kNoTrans, m, n, k, 1.0f, p.a, k, p.b, n, 0.0f, p.c, n);
                     }});
    return;
  }
}

}  // namespace

void print_blas_table(int threads) {
  omp_set_num_threads(threads);
  std::vector<Gemm> gemms = {{"oneDNN", [](const Sgemm& product) { sgemm(product); }}};
  add_rival<int>(gemms, "OpenBLAS", {"libopenblas.so.0", "libopenblas.so"}, "openblas_set_num_threads", threads);
  add_rival<int64_t>(gemms, "BLIS", {"libblis.so.4", "libblis.so"}, "bli_thread_set_num_threads", threads);

  struct Size {
    int m, n, k;
    const char* what;
  };
  const std::vector<Size> sizes = {{2048, 2048, 2048, "the yardstick"},
                                   {1024, 1024, 64, "scores of a head"},
                                   {1024, 64, 1024, "values of a head"},
                                   {128, 128, 64, "scores of a tile"},
                                   {96, 64, 128, "values of a tile"},
                                   {32, 32, 64, "scores of a short sentence"},
                                   {64, 512, 512, "a linear layer on a small batch"},
                                   {4096, 512, 512, "a linear layer on a large batch"}};
  fmt::print("GFLOP/s, {} thread{}, best of 5\n{:>5} {:>5} {:>5}", threads, threads == 1 ? "" : "s", "m", "n", "k");
  for (const Gemm& gemm : gemms) fmt::print(" {:>9}", gemm.name);
  fmt::print("\n");
  for (const Size& s : sizes) {
    const int64_t m = s.m, n = s.n, k = s.k;
    Buffer a(m * k), b(k * n), c(m * n);
    fill_random(a, 1);
    fill_random(b, 2);
    fill_zero(c);
    std::vector<double> best(gemms.size(), 1e30);
    for (int round = 0; round < 5; ++round)
      for (size_t g = 0; g < gemms.size(); ++g)
        best[g] = std::min(best[g], sample_ms([&] {
                             gemms[g].run({.m = m, .n = n, .k = k, .a = a.data(), .b = b.data(), .c = c.data()});
                           }));
    fmt::print("{:5} {:5} {:5}", m, n, k);
    for (double ms : best) fmt::print(" {:9.1f}", 2.0 * static_cast<double>(m * n * k) / ms * 1e-6);
    fmt::print("   {}\n", s.what);
  }
}

}  // namespace heed::bench
