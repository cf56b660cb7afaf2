// A trained model and a line -> what the model attended to, at every layer and head.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/predict/predictor.h"
#include "heed/view/document.h"

namespace heed::view {

inline constexpr int64_t kLargestTree = 10'000;  // nodes: more cannot be drawn

/// What of it is wanted, and how much there may be. Memory is needed for `weights` numbers of about 16 bytes, besides
/// what the model needs to read the line.
struct Shown {
  std::vector<std::string> attentions = {};     // by name; empty: all
  std::vector<int64_t> heads = {};              // from 1; empty: all
  int64_t first_row = 1, last_row = 0;          // queries, from 1; 0: to the last
  int64_t tokens = 4096;                        // most of an input or output
  int64_t weights = int64_t{32} * 1024 * 1024;  // most of all attentions, also of heads and rows that are left out
};

/// More than Shown allows. Nothing of it was computed.
class TooManyWeights : public Error {
 public:
  explicit TooManyWeights(const std::string& message) : Error(ErrorKind::data, message) {}
};
class TooManyTokens : public Error {
 public:
  explicit TooManyTokens(const std::string& message) : Error(ErrorKind::data, message) {}
};

/// The model answers the line and then reads the tokens of its answer, or `target`, by teacher forcing: the numbers are
/// those of the fused kernels in that one pass. With a beam, or if options.tree is set, the example has the search tree
/// too, unless that has more than kLargestTree nodes. Throws ErrorKind::data if the line cannot be used, with the
/// reason, and if there is too much to show: TooManyTokens, TooManyWeights.
Example look(const predict::Predictor& model, const std::string& line, const std::optional<std::string>& target = {},
             const predict::Options& options = {}, const Shown& shown = {});

/// `folder`: where the model comes from.
ModelName name_of(const predict::Predictor& model, const std::string& folder);

}  // namespace heed::view
