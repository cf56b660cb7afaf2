// The cases of the benchmark. One row of the table in README.md is one CaseSpec in case.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "buffer.h"
#include "contest.h"
#include "heed/kernels/attention.h"
#include "plain.h"
#include "read_bandwidth.h"

namespace heed::bench {

struct CaseSpec {
  std::string name;
  kernels::ScoreKind score = kernels::ScoreKind::inner;
  int64_t batch = 1, heads = 1, queries = 0, keys = 0;
  int64_t kv_heads = 0;  // 0: as many as heads; fewer in the decoding grid only, where a sequence has one query
  int64_t dim = 64;      // D = Dv
  bool causal = false;
  int64_t window = -1;  // keys to each side; -1: no window
  bool train = false;   // forward and backward
  bool plain = true;    // the plain composition runs too; not where its scores would fill the memory

  /// Key and value heads of a sequence.
  int64_t groups() const { return kv_heads ? kv_heads : heads; }
  /// One step of decoding: the time goes into reading keys and values, so reading alone is the yardstick.
  bool decodes() const { return queries == 1; }
  /// Pairs (query, key) that exist, over all heads; with causal counted as half of all.
  double pairs() const;
  /// Floating-point operations of the two products, five with the backward: 4 or 12 per pair and dimension.
  double flops() const;
  /// pairs() times D: what tanh_sum is counted in.
  double pair_dims() const { return pairs() * static_cast<double>(dim); }
  /// Bytes of the key and value caches.
  double kv_bytes() const { return 2.0 * 4.0 * static_cast<double>(batch * groups() * keys * dim); }
};

const std::vector<CaseSpec>& all_cases();
/// The grid of `--decode`: 8 query heads of width 64 on 8 or 1 key heads, for several numbers of sequences and keys.
const std::vector<CaseSpec>& decode_cases();
/// Among both.
const CaseSpec* find_case(const std::string& name);

/// Tensors of one case, and everything that runs on them.
class Case final : public Contest {
 public:
  explicit Case(const CaseSpec& spec);

  const std::string& name() const override { return spec_.name; }
  nlohmann::json describe() const override;
  void check(nlohmann::json& about) override;
  std::vector<Contestant> contestants() override;
  bool dump(const std::string& directory) override;
  bool wants_sgemm() const override { return !spec_.decodes(); }

 private:
  /// Runs heed once. Returns what it refused, or an empty text.
  std::string run_heed(int threads);
  void run_plain(int threads);
  /// Reads keys and values once.
  float run_read(int threads, Streams streams) const;

  /// Largest difference between heed's output and the formula evaluated in double on some rows, over the largest
  /// output.
  double reference_difference() const;
  /// The same between heed and the plain composition, over the output and all gradients. Both must have run.
  double plain_difference() const;

  /// Which path explain() names.
  std::string path() const;

  kernels::Problem problem(int threads) const;
  kernels::Inputs inputs() const;
  /// Which of the [B, G] key heads a query head of [B, H] reads.
  int64_t kv_head(int64_t batch_head) const;
  std::vector<double> reference_row(int64_t batch_head, int64_t query) const;

  CaseSpec spec_;
  Buffer q_, k_, v_, score_v_, d_out_;
  Buffer out_, saved_, kept_scores_, d_q_, d_k_, d_v_, d_score_v_;
  Buffer plain_out_, plain_d_q_, plain_d_k_, plain_d_v_;
  std::unique_ptr<Plain> plain_;
  bool plain_agrees_ = false;
};

}  // namespace heed::bench
