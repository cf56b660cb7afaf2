// Several models that write one output together: a generator made of generators, so every search works with it.
//
//   log p(y_t | ..) = mean_m log p_m(y_t | ..), made to add up to 1        Mean::log_probabilities
//   p(y_t | ..) = mean_m p_m(y_t | ..)                                     Mean::probabilities
//
// The models may be of any kind and may cut sources in different ways; their targets have the same vocabulary.
#pragma once

#include <vector>

#include "heed/model/generator.h"
#include "heed/model/search/ensemble_mean.h"

namespace heed::search {

class Ensemble final : public model::Generator {
 public:
  /// At least one model; they must outlive this. Sources are those of the first; data::Sources::others has them as the
  /// others read them. `same_sources`: all of them cut sources into the same tokens; then an alignment is the mean of
  /// all, otherwise that of the first. It is that of the last layer and the mean of its heads.
  Ensemble(std::vector<const model::Generator*> models, Mean mean, bool same_sources);

  std::unique_ptr<decode::State> start(Tape& tape, const data::Sources& sources, int64_t longest) const override;
  Tensor step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
              decode::Alignment* alignment = nullptr) const override;
  int64_t memory_rows(const data::Sources& sources, int64_t b) const override;
  int32_t first_token(const data::Sources& sources, int64_t b, int32_t start) const override;
  bool mixes_lengths() const override;
  std::vector<int64_t> alignment_heads() const override;

 private:
  std::vector<const model::Generator*> models_;
  Mean mean_;
  bool same_sources_;
};

}  // namespace heed::search
