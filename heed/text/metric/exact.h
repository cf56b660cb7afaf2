// Is a hypothesis right as a whole? It must match one of its references byte for byte.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/text/metric/metric.h"

namespace heed::metric {

struct Accuracy {
  int64_t right = 0;
  int64_t count = 0;
  double rate() const;  // of nothing: 0
};

Accuracy exact_match(std::span<const std::string> hypotheses, std::span<const Texts> references);

/// The same as a metric, under one of its names.
enum class ExactKind {
  exact,           // percent right
  accuracy,        // percent right; the usual name if hypotheses are labels. Surrounding spaces do not count
  sequence_error,  // percent wrong
};

/// Threads: many may use it at once.
class Exact : public TextMetric {
 public:
  explicit Exact(ExactKind kind = ExactKind::exact) : kind_(kind) {}

  using TextMetric::score;

  /// 1 or 0, 1.
  size_t width() const override { return 2; }
  Score score(std::span<const double> total) const override;

 protected:
  std::vector<double> of_segment(const std::string& hypothesis, const Texts& references) const override;

 private:
  ExactKind kind_;
};

}  // namespace heed::metric
