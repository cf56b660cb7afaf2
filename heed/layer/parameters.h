// The parameters of a model: a list by name, and scopes that build the names.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heed/layer/initialise.h"
#include "heed/tensor/parameter.h"

namespace heed {

/// What a new parameter holds: initial values drawn by its layer, or nothing but a name and a shape, for parameters
/// that are about to be loaded (file::load), drawn later, or never run. No memory is allocated for what a file may
/// lack.
enum class Start { drawn, empty };

/// Threads: many may read at once, through tapes that record nothing; a backward and an optimiser need it alone.
class Parameters {
 public:
  explicit Parameters(uint64_t seed = 0, Start start = Start::drawn) : seed_(seed), start_(start) {}
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  /// Adds one, filled by `initialiser` from (seed, name) alone: the order of creation does not matter.
  Parameter& make(std::string name, std::vector<int64_t> shape, const Initialiser& initialiser);
  /// Fills those that are empty as if they had been drawn at once.
  void draw();
  /// For inference: every weight that only products read stands in memory once, packed for them in this format, as does
  /// a table of embeddings. Anything that reads the numbers later unpacks them; unpack() does it for all, for a
  /// training.
  void pack(const WeightFormat& format = float32_weights);
  void unpack();
  Parameter& at(std::string_view name);    // throws, naming the nearest name
  Parameter* find(std::string_view name);  // or null
  const Parameter* find(std::string_view name) const;

  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  size_t size() const { return all_.size(); }
  int64_t count() const;    // total number of values
  void forget_gradients();  // the next backward starts from zero

 private:
  void draw(Parameter& p, const Initialiser& initialiser);

  uint64_t seed_;
  Start start_;
  std::vector<Initialiser> later_;  // of each, until draw(), where they start empty
  std::deque<Parameter> all_;       // in order of creation; addresses never change
  std::unordered_map<std::string, Parameter*> by_name_;
};

/// A place in the tree of names: Scope(p) / "encoder" / "0" makes "encoder.0.weight" of "weight".
/// Threads: one at a time, while a model is made.
class Scope {
 public:
  Scope(Parameters& all, std::string prefix = "")
      : all_(&all), prefix_(std::move(prefix)) {}  // NOLINT: a root is a scope

  Scope operator/(std::string_view name) const;
  Parameter& make(std::string_view name, std::vector<int64_t> shape, const Initialiser& initialiser) const;
  /// One that only products read, in this order, and whoever takes single rows of it: Parameter::product.
  Parameter& make_weight(std::string_view name, std::vector<int64_t> shape, const Initialiser& initialiser,
                         WeightOrder order = WeightOrder::out_in) const;
  const std::string& prefix() const { return prefix_; }

 private:
  Parameters* all_;
  std::string prefix_;
};

/// The start of a model's layers: parameters / "encoder" is Scope(parameters) / "encoder".
inline Scope operator/(Parameters& all, std::string_view name) { return Scope(all) / name; }

}  // namespace heed
