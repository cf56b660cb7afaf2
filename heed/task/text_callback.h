// Outputs while they are written: from the tokens of a search to the text that PredictOptions::on_text is told.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "heed/task/predict_options.h"
#include "heed/text/tokeniser.h"

namespace heed::task {

using OnToken = std::function<void(int64_t line, std::span<const int32_t> tokens)>;

/// For search::Options::on_token; empty if nobody asked. `text_of(line, tokens)`: what the tokens of line number `line`
/// say. All must outlive the search.
template <class TextOf>
OnToken text_callback(const PredictOptions& options, TextOf text_of) {
  if (!options.on_text) return {};
  return [&options, text_of](int64_t line, std::span<const int32_t> tokens) {
    options.on_text(line, text_of(line, tokens));
  };
}

/// The same where an output is nothing but its tokens.
inline OnToken text_callback(const PredictOptions& options, const text::Tokeniser& target) {
  return text_callback(options, [&target](int64_t, std::span<const int32_t> tokens) { return target.decode(tokens); });
}

}  // namespace heed::task
