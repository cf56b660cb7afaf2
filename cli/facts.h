// What is known of a mechanism, gathered from its entry, from the options and from really making it. The texts, the
// JSON and the pages all say this.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/attend/all.h"

namespace heed::cli {

struct OptionFact {
  std::string name;
  std::string type;     // string, integer, number or boolean
  std::string value;    // the default, as a recipe writes it: "tanh" in quotes, true, 0.2
  std::string by_name;  // what the mechanism's name makes of it; empty: the default stays
  std::string meaning;
};

struct Setting {
  std::string name, value;
  std::string as;  // the option that it follows, where it does
};

struct ParameterFact {
  std::string name;
  std::vector<int64_t> shape;
  bool trainable = true;
};

struct Facts {
  const attend::Entry* entry = nullptr;
  std::vector<std::string> aliases;
  std::vector<OptionFact> options;        // those it reads
  std::vector<Setting> settings;          // what its name stands for: score = "additive"
  std::vector<Setting> sample;            // widths and the like of a small model
  std::vector<ParameterFact> parameters;  // of that model
  std::string recipe;                     // that takes it, as TOML; empty: none does
};

Facts facts_of(const attend::Entry& entry);

/// Every option there is, with its default.
std::vector<OptionFact> all_options();

/// "[6, 8]"
std::string shape_text(const std::vector<int64_t>& shape);

inline constexpr attend::Part kParts[] = {attend::Part::score, attend::Part::normalise, attend::Part::region,
                                          attend::Part::time,  attend::Part::input,     attend::Part::structure};

/// A heading for the mechanisms of a part: "Scores: what a query and a key are to each other".
const char* heading_of(attend::Part part);

/// What the letters in costs mean.
inline constexpr const char* kCostLetters =
    "n queries and m keys of a sequence, D their width, H the option hidden; time counts multiplications of a pass "
    "forward, memory the numbers that training keeps beyond inputs and outputs.";

}  // namespace heed::cli
