#include "heed/layer/parameters.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/base/nearest.h"

namespace heed {

namespace {

/// FNV-1a over the bytes of the seed and of the name.
uint64_t seed_of(uint64_t seed, std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325u;
  const auto feed = [&hash](uint64_t byte) { hash = (hash ^ byte) * 0x100000001B3u; };
  for (int shift = 0; shift < 64; shift += 8) feed((seed >> shift) & 0xFF);
  for (const char letter : name) feed(static_cast<unsigned char>(letter));
  return hash;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (const int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

}  // namespace

Parameter& Parameters::make(std::string name, std::vector<int64_t> shape, const Initialiser& initialiser) {
  expect(!name.empty(), "parameters: a parameter of shape {} needs a name", shape_text(shape));
  expect(shape.size() == 1 || shape.size() == 2, "parameter '{}': the shape must be [n] or [rows, cols], not {}", name,
         shape_text(shape));
  for (const int64_t extent : shape)
    expect(extent >= 0, "parameter '{}': the shape {} has a negative dimension", name, shape_text(shape));
  if (const Parameter* other = find(name))
    throw Error(fmt::format("parameter '{}' of shape {} already exists, with shape {}; give each layer its own scope",
                            name, shape_text(shape), shape_text(other->shape)));

  Parameter& p = all_.emplace_back();
  p.name = std::move(name);
  p.shape = std::move(shape);
  if (start_ == Start::drawn)
    draw(p, initialiser);
  else
    later_.push_back(initialiser);
  by_name_.emplace(p.name, &p);
  return p;
}

void Parameters::draw(Parameter& p, const Initialiser& initialiser) {
  p.value.resize(static_cast<size_t>(p.size()));
  initialiser.fill(p.value, p.rows(), p.cols(), seed_of(seed_, p.name));
}

void Parameters::draw() {
  if (start_ == Start::drawn) return;
  size_t n = 0;
  for (Parameter& p : all_) {
    if (p.value.empty()) draw(p, later_[n]);
    ++n;
  }
  start_ = Start::drawn;
  later_.clear();
}

void Parameters::pack(const WeightFormat& format) {
  for (Parameter& p : all_) p.pack(format);
}

void Parameters::unpack() {
  for (Parameter& p : all_) p.value.data();
}

Parameter& Parameters::at(std::string_view name) {
  if (Parameter* p = find(name)) return *p;
  std::vector<std::string> names;
  for (const Parameter& p : all_) names.push_back(p.name);
  expect(!names.empty(), "there is no parameter '{}': there are no parameters", name);
  throw Error(fmt::format("there is no parameter '{}'; did you mean '{}'?", name, nearest(name, names)));
}

Parameter* Parameters::find(std::string_view name) {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? nullptr : found->second;
}

const Parameter* Parameters::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? nullptr : found->second;
}

int64_t Parameters::count() const {
  int64_t sum = 0;
  for (const Parameter& p : all_) sum += p.size();
  return sum;
}

void Parameters::forget_gradients() {
  for (Parameter& p : all_) p.has_gradient = false;
}

Scope Scope::operator/(std::string_view name) const {
  return {*all_, prefix_.empty() ? std::string(name) : fmt::format("{}.{}", prefix_, name)};
}

Parameter& Scope::make(std::string_view name, std::vector<int64_t> shape, const Initialiser& initialiser) const {
  return all_->make((*this / name).prefix(), std::move(shape), initialiser);
}

Parameter& Scope::make_weight(std::string_view name, std::vector<int64_t> shape, const Initialiser& initialiser,
                              WeightOrder order) const {
  Parameter& weight = make(name, std::move(shape), initialiser);
  weight.product = order;
  return weight;
}

}  // namespace heed
