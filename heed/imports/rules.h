// Which tensor of another program becomes which parameter of a model here: a table for each format.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/imports/tensors.h"
#include "heed/layer/parameters.h"

namespace heed::imports {

enum class Form { same, turned };  // turned: [in, out] in the file

/// {} in both names is the number of a layer. Rules with the same `from` take its rows one after the other, and
/// together all of them.
struct Rule {
  std::string_view to, from;
  Form form = Form::same;
  bool may_lack = false;  // then the parameter is 0: a bias
};

/// Fills the parameters of a model, each once.
class Filler {
 public:
  Filler(Parameters& parameters, ForeignTensors& tensors) : parameters_(parameters), tensors_(tensors) {}

  /// Applies the rules to the layers 0 to layers - 1. A rule without {} is applied once.
  /// `under`: before the names of the parameters, "text." for example.
  void apply(std::span<const Rule> rules, int64_t layers, std::string_view under = {});
  /// Values that no tensor has as they are. Throws if their number does not fit, or one is no finite number.
  void set(std::string_view to, std::vector<float> values, std::string_view from);
  /// Throws if a parameter has no values: an error of an importer.
  void expect_complete() const;

 private:
  struct Rows;  // of a tensor that several rules share
  void set_zero(Parameter& parameter);

  Parameters& parameters_;
  ForeignTensors& tensors_;
  std::set<std::string, std::less<>> filled_;
};

}  // namespace heed::imports
