// The tensors of a model that another program trained, by its names, and which of them were used.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::imports {

using Shape = std::vector<int64_t>;

struct ForeignTensor {
  Shape shape;                                  // empty: a single number
  std::function<std::vector<float>()> numbers;  // as many as the shape has; may be called again
};

/// All errors name the file and the tensor.
class ForeignTensors {
 public:
  explicit ForeignTensors(std::string file = "") : file_(std::move(file)) {}

  const std::string& file() const { return file_; }
  void add(std::string name, ForeignTensor tensor);  // throws if there is one
  bool has(std::string_view name) const { return all_.find(name) != all_.end(); }
  /// Throws if there is none: the model needs it.
  const Shape& shape(std::string_view name) const { return at(name).shape; }
  /// The numbers, if the shape is this one. From then on it counts as used.
  std::vector<float> take(std::string_view name, const Shape& shape);
  std::vector<float> take(std::string_view name) { return take(name, shape(name)); }
  /// A single number, if it is there.
  std::optional<double> number(std::string_view name);
  void set_used(std::string_view name);

  /// Names, in order, of what was not used.
  std::vector<std::string> unused() const;
  const std::map<std::string, ForeignTensor, std::less<>>& all() const { return all_; }

 private:
  const ForeignTensor& at(std::string_view name) const;

  std::string file_;
  std::map<std::string, ForeignTensor, std::less<>> all_;
  std::map<std::string, bool, std::less<>> used_;
};

/// "a tensor of 2 x 3", "a number"
std::string text_of(const Shape& shape);

}  // namespace heed::imports
