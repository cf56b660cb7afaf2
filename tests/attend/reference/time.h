// How the scores of one sequence and head depend on the steps before.
#pragma once

#include <cmath>
#include <vector>

#include "tests/attend/reference/normalisers.h"

namespace heed::attend::test {

/// e'_ti = e_ti - log sum_{u < t} exp(e_ui), over the pairs that exist. Paulus et al. 2018
inline std::vector<Row> forced_forward(const std::vector<Row>& e) {
  std::vector<Row> shifted = e;
  for (size_t t = 0; t < e.size(); ++t)
    for (size_t j = 0; j < e[t].size(); ++j) {
      double before = 0.0;
      for (size_t u = 0; u < t; ++u) before += std::exp(e[u][j]);
      if (before > 0.0) shifted[t][j] = e[t][j] - std::log(before);
    }
  return shifted;
}

/// G_ij = 1 - exp(-(i/Tq - j/Tk)^2 / (2 g^2)). Tachibana et al. 2018
inline double guide(double i_share, double j_share, double g) {
  return 1.0 - std::exp(-(i_share - j_share) * (i_share - j_share) / (2.0 * g * g));
}

}  // namespace heed::attend::test
