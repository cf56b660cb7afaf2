// Initial values of parameters. Always a function of (seed, name): see Parameters::make.
#pragma once

#include <cstdint>
#include <span>

namespace heed {

struct Initialiser {
  enum class Kind {
    constant,        // `a`
    uniform,         // in [-a, a]
    normal,          // mean 0, deviation a
    xavier_uniform,  // a * sqrt(6 / (rows + cols)).  Glorot and Bengio 2010
    orthogonal,      // blocks of [cols, cols] rows, each orthogonal, times a.  Saxe et al. 2014
  };
  Kind kind = Kind::xavier_uniform;
  float a = 1.0f;

  static Initialiser constant(float value) { return {Kind::constant, value}; }
  static Initialiser uniform(float a) { return {Kind::uniform, a}; }
  static Initialiser normal(float deviation) { return {Kind::normal, deviation}; }
  static Initialiser xavier(float gain = 1.0f) { return {Kind::xavier_uniform, gain}; }
  static Initialiser orthogonal(float gain = 1.0f) { return {Kind::orthogonal, gain}; }

  void fill(std::span<float> values, int64_t rows, int64_t cols, uint64_t seed) const;
};

}  // namespace heed
