// Going on with a text, token by token. What a token sees is what it would see if the text were judged: the windows of
// data/text_windows.h. Where a new window begins, its first tokens are read again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/model/decode/text_decoder.h"
#include "heed/model/embed/embed.h"
#include "heed/model/generator.h"
#include "heed/task/language_model/text_windows.h"

namespace heed::task {

/// The parts of a language model, which must outlive what uses them.
struct TextModelParts {
  const embed::Embed* embed = nullptr;
  const decode::TextDecoder* decoder = nullptr;
  Parameter *weight = nullptr, *bias = nullptr;  // from states to logits
};

class TextGenerator final : public model::Generator {
 public:
  TextGenerator() = default;
  TextGenerator(const TextModelParts& parts, const WindowRule& windows) : parts_(parts), windows_(windows) {}

  /// Reads the sources, the beginnings of texts, but for the last token of each: the search passes that to step(). All
  /// must have the same length, at least 1.
  std::unique_ptr<decode::State> start(Tape& tape, const data::Sources& sources, int64_t longest) const override;
  Tensor step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
              decode::Alignment* alignment = nullptr) const override;
  std::vector<int64_t> alignment_heads() const override { return {}; }
  int32_t first_token(const data::Sources& sources, int64_t b, int32_t) const override {
    return sources.tokens[b].back();
  }
  bool mixes_lengths() const override { return false; }

 private:
  Tensor read(std::span<const int32_t> tokens, decode::State& window, Tape& tape) const;
  void begin_window(decode::State& state, Tape& tape) const;

  TextModelParts parts_;
  WindowRule windows_;
};

}  // namespace heed::task
