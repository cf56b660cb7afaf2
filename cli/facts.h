// Everything known about a mechanism, gathered from its entry, from the options, and from a model that is really made.
// The text, the JSON and the pages are all written from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/attend/all.h"
#include "heed/attend/settings.h"

namespace heed::cli {

struct OptionFact {
  std::string name;
  std::string type;     // string, integer, number or boolean
  std::string value;    // the default, as written in a recipe: "tanh" in quotes, true, 0.2
  std::string by_name;  // its value if the mechanism is chosen by name; empty: the default
  std::string meaning;
};

using attend::Setting;

struct ParameterFact {
  std::string name;
  std::vector<int64_t> shape;
  bool trainable = true;
};

struct Facts {
  const attend::Entry* entry = nullptr;
  std::vector<std::string> aliases;
  std::vector<OptionFact> options;        // that it reads
  std::vector<Setting> settings;          // that its name sets: score = "additive"
  std::vector<Setting> sample;            // widths and similar options of a small model
  std::vector<ParameterFact> parameters;  // of that model
  std::string recipe;                     // that uses it, as TOML; empty: none can
};

Facts facts_of(const attend::Entry& entry);

/// Every option there is, with its default.
std::vector<OptionFact> all_options();

/// "[6, 8]"
std::string shape_text(const std::vector<int64_t>& shape);

inline constexpr attend::Part kParts[] = {attend::Part::score, attend::Part::normalise, attend::Part::region,
                                          attend::Part::time,  attend::Part::input,     attend::Part::structure};

/// A heading for the mechanisms of a part: "Scores: how well a query and a key match".
const char* heading_of(attend::Part part);

/// The letters in costs.
inline constexpr const char* kCostLetters =
    "n and m are the numbers of queries and keys of a sequence, D their width, H the option hidden. Time counts the "
    "multiplications of a forward pass, memory the numbers that training keeps beyond inputs and outputs.";

}  // namespace heed::cli
