// Do hypotheses and references belong together.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/text/utf8.h"

namespace heed::metric {

/// As many references as hypotheses, and at least one for each.
template <class Hypothesis>
void expect_references(std::span<const Hypothesis> hypotheses, std::span<const std::vector<Hypothesis>> references) {
  expect(hypotheses.size() == references.size(), ErrorKind::data, "{} hypotheses, but references for {}",
         hypotheses.size(), references.size());
  for (size_t i = 0; i < references.size(); ++i)
    expect(!references[i].empty(), ErrorKind::data, "hypothesis {} has no reference", i + 1);
}

inline void expect_utf8(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references) {
  const auto check = [](const std::string& text, const char* what, size_t number) {
    const size_t fault = text::utf8_fault(text);
    expect(fault == std::string::npos, ErrorKind::data, "{} {}: byte {} is not valid UTF-8", what, number, fault + 1);
  };
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    check(hypotheses[i], "hypothesis", i + 1);
    for (const std::string& reference : references[i]) check(reference, "a reference of hypothesis", i + 1);
  }
}

}  // namespace heed::metric
