// Any score with any normaliser, region and time behaviour, with or without heads and projections.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/attend/choices.h"
#include "heed/attend/mechanism.h"
#include "heed/attend/normalise/normalise.h"
#include "heed/attend/region/region.h"
#include "heed/attend/score/score.h"
#include "heed/attend/time/time.h"
#include "heed/layer/linear.h"

namespace heed::attend {

/// Threads: many may call it at once, each with its own tape.
class Attention final : public Mechanism {
 public:
  /// `score`: used instead of the one named by options.score.
  Attention(const Scope& scope, const Options& options, std::unique_ptr<Score> score = nullptr);

  Traits traits() const override;
  PreparedMemory prepare(const Memory& memory) const override;
  using Mechanism::attend;
  Attended attend(const Queries& queries, const PreparedMemory& prepared, const State& state,
                  const Request& request) const override;
  PreparedMemory begin(Tape& tape, int64_t batch, int64_t capacity) const override;
  PreparedMemory extend(const PreparedMemory& so_far, const Memory& rows) const override;
  int64_t context_width() const override;

  /// One run of the loop (several for a sampled normaliser), for the time behaviours. `region`, if given, limits
  /// further what is visible.
  Attended run(const AttendArguments& asked, const kernels::CustomRegion* region = nullptr) const;

  const Options& options() const { return options_; }

 private:
  /// A memory whose first row is at position `first`.
  PreparedMemory prepare_from(const Memory& memory, int64_t first) const;
  /// With rotary positions: q' or k' rotated, the first row of sequence b at position first(b). Otherwise unchanged.
  template <class First>
  Tensor placed(Tensor x, const Offsets& offsets, const First& first, int64_t heads) const;
  Packed query_rows(const AttendArguments& asked) const;
  AttentionCall base_call(const AttendArguments& asked, const Packed& q) const;
  Weights weights(const std::vector<AttentionResult>& results, Tape& tape) const;

  std::string name_;  // where it is in the model
  Options options_;
  Parts parts_;
  Position position_;
  int64_t kv_heads_;
  int64_t score_query_width_;  // of one head
  int64_t value_head_width_;
  Linear query_, key_, value_, output_;
  Parameter* learned_queries_ = nullptr;
  Parameter* relative_ = nullptr;
  std::unique_ptr<Score> score_;
  std::unique_ptr<Normalise> normalise_;
  std::vector<std::unique_ptr<Region>> regions_;
  std::unique_ptr<Time> time_;
};

}  // namespace heed::attend
