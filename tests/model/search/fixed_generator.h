// A generator whose probabilities follow from the tokens so far alone: a plain table for everything to be checked
// against.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "heed/kernels/splitmix64.h"
#include "heed/model/search/search.h"
#include "heed/tensor/tape.h"

namespace heed::search::test {

/// Logits from a hash of the source and of all tokens so far: every beginning has a distribution of its own.
class FixedGenerator final : public model::Generator {
 public:
  /// `scale`: of the logits; more makes up the mind.
  explicit FixedGenerator(int32_t vocabulary, uint64_t seed, float scale = 2.0f)
      : vocabulary_(vocabulary), seed_(seed), scale_(scale) {}

  std::vector<float> logits_after(std::span<const int32_t> source, std::span<const int32_t> tokens) const {
    uint64_t hash = seed_;
    for (const int32_t id : source) hash = kernels::splitmix64(hash ^ static_cast<uint64_t>(id));
    return from(after(hash, tokens));
  }

  std::unique_ptr<decode::State> start(Tape& tape, const data::Sources& sources, int64_t longest) const override {
    const int64_t count = sources.size();
    auto state = std::make_unique<decode::State>(count, longest);
    const Tensor hashes = tape.filled(count, 4, 0.0f);
    for (int64_t b = 0; b < count; ++b) {
      uint64_t hash = seed_;
      for (const int32_t id : sources.tokens[b]) hash = kernels::splitmix64(hash ^ static_cast<uint64_t>(id));
      put(hashes.row(b), hash);
    }
    state->add_matrix(hashes);
    return state;
  }

  Tensor step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
              decode::Alignment* = nullptr) const override {
    const int64_t rows = std::ssize(tokens);
    const Tensor before = state.matrix(0).on(tape), after = tape.filled(rows, 4, 0.0f),
                 logits = tape.filled(rows, vocabulary_, 0.0f);
    for (int64_t r = 0; r < rows; ++r) {
      const int32_t token = tokens[static_cast<size_t>(r)];
      const uint64_t hash = state.step() == 0 ? get(before.row(r)) : next(get(before.row(r)), token);
      put(after.row(r), hash);
      const std::vector<float> row = from(hash);
      std::copy(row.begin(), row.end(), logits.row(r));
    }
    state.matrix(0) = OffTapeMatrix(after);
    state.advance();
    return logits;
  }
  std::vector<int64_t> alignment_heads() const override { return {}; }

 private:
  static uint64_t next(uint64_t hash, int32_t token) {
    return kernels::splitmix64(hash * 31 + static_cast<uint64_t>(token) + 1);
  }
  static uint64_t after(uint64_t hash, std::span<const int32_t> tokens) {
    for (const int32_t token : tokens) hash = next(hash, token);
    return hash;
  }
  std::vector<float> from(uint64_t hash) const {
    std::vector<float> logits;
    for (int32_t v = 0; v < vocabulary_; ++v) {
      const uint64_t bits = kernels::splitmix64(hash ^ (static_cast<uint64_t>(v) << 40));
      logits.push_back(scale_ * (static_cast<float>(bits >> 40) * 0x1p-23f - 1.0f));
    }
    return logits;
  }
  /// A hash in four floats, 16 bits each.
  static void put(float* row, uint64_t hash) {
    for (int i = 0; i < 4; ++i) row[i] = static_cast<float>(hash >> (16 * i) & 0xFFFF);
  }
  static uint64_t get(const float* row) {
    uint64_t hash = 0;
    for (int i = 0; i < 4; ++i) hash |= static_cast<uint64_t>(row[i]) << (16 * i);
    return hash;
  }

  int32_t vocabulary_;
  uint64_t seed_;
  float scale_;
};

}  // namespace heed::search::test
