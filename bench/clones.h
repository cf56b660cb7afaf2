// Lets the compiler emit one loop for several instruction sets and choose at run time, so that the contestants which
// are not heed are not held back by the baseline that the build targets.
#pragma once

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && defined(__GNUC__) && !defined(__clang__)
#define HEED_BENCH_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#elif defined(__x86_64__) && defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define HEED_BENCH_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HEED_BENCH_CLONES
#endif
