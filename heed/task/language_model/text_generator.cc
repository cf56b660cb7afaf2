#include "heed/task/language_model/text_generator.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/tensor/op/linear.h"

namespace heed::task {

// The state of a text counts the tokens of all windows. Its one member is the state of the current window, and its
// tokens are those from the beginning of that window on, if the next one will begin before its end.

std::unique_ptr<decode::State> TextGenerator::start(Tape& tape, const data::Sources& sources, int64_t longest) const {
  const data::Sequences& texts = sources.tokens;
  const int64_t count = texts.size(), length = texts.length(0);
  for (int64_t b = 0; b < count; ++b)
    expect(length > 0 && texts.length(b) == length, ErrorKind::bug,
           "model: the beginnings of texts that are continued together must be equally long");
  auto state = std::make_unique<decode::State>(count, length - 1 + longest);
  const int64_t begin = windows_.begin_of(length - 1);
  state->add_member(parts_.decoder->start(tape, count, std::min(windows_.length, length - 1 - begin + longest)));
  if (windows_.stride < windows_.length) state->add_tokens();
  state->advance(begin);
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int64_t t = begin; t + 1 < length; ++t) {
    for (int64_t b = 0; b < count; ++b) tokens[static_cast<size_t>(b)] = texts[b][static_cast<size_t>(t)];
    tape.reset();  // the state is outside it
    read(tokens, state->member(0), tape);
    for (size_t b = 0; b < state->tokens().size(); ++b) state->tokens()[b].push_back(tokens[b]);
    state->advance();
  }
  return state;
}

Tensor TextGenerator::read(std::span<const int32_t> tokens, decode::State& window, Tape& tape) const {
  const Packed x = (*parts_.embed)(tape, tokens, tape.even_offsets(std::ssize(tokens), 1), window.step());
  return parts_.decoder->step(x.rows, window);
}

void TextGenerator::begin_window(decode::State& state, Tape& tape) const {
  const int64_t again = windows_.length - windows_.stride;
  state.replace_member(0, parts_.decoder->start(tape, state.rows(), windows_.length));
  std::vector<int32_t> tokens(state.tokens().size());
  for (std::vector<int32_t>& row : state.tokens()) row.erase(row.begin(), row.end() - again);
  for (int64_t t = 0; t < again; ++t) {
    for (size_t r = 0; r < tokens.size(); ++r) tokens[r] = state.tokens()[r][static_cast<size_t>(t)];
    tape.only_result([&] { return read(tokens, state.member(0), tape); });  // logits of other models may be on the tape
  }
}

Tensor TextGenerator::step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
                           decode::Alignment*) const {
  if (state.member(0).step() == windows_.length) begin_window(state, tape);
  for (size_t r = 0; r < state.tokens().size(); ++r) state.tokens()[r].push_back(tokens[r]);
  const Tensor states = read(tokens, state.member(0), tape);
  state.advance();
  return linear(states, tape.parameter(*parts_.weight), tape.parameter(*parts_.bias));
}

}  // namespace heed::task
