// The next token of a text, from those before it:  tokens -> vectors -> states -> logits
#pragma once

#include <memory>

#include "heed/model/decode/text_decoder.h"
#include "heed/model/embed/embed.h"
#include "heed/model/model.h"
#include "heed/model/options.h"
#include "heed/task/language_model/text_generator.h"
#include "heed/task/language_model/text_windows.h"

namespace heed::task {

/// What a token of a text sees, of a model with these options (data/text_windows.h). `stride`: 0 for the usual one.
///   transformer   windows of `context` tokens; usually each begins half a window after the one before it
///   rnn           the whole document: its states go on from token to token, and look back as far as [attention] lets
///                 them. Only after kLongestRead tokens it begins anew, so that long texts can be read side by side; a
///                 stride is refused
WindowRule text_windows(const model::Options& options, int64_t stride = 0);
inline constexpr int64_t kLongestRead = 16'384;

class LanguageModel final : public model::Model {
 public:
  /// Of options.target_vocabulary tokens.
  LanguageModel(Parameters& parameters, const model::Options& options);
  LanguageModel(const LanguageModel&) = delete;  // its generator points into it
  LanguageModel& operator=(const LanguageModel&) = delete;

  /// Of a batch without sources. A recurrent model goes on from batch.carried, and returns what is to be carried on.
  model::Loss loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const override;
  int64_t max_positions() const override;
  void teacher_forced_logits(Tape& tape, const data::Batch& batch,
                             const std::function<void(int64_t first, Tensor logits)>& visit) const override;

  /// Goes on with a text, by the windows above.
  const model::Generator* generator() const override { return &generator_; }
  /// The same with another stride.
  TextGenerator generator_with(int64_t stride) const;

 private:
  /// States of all tokens of a batch. `after`: what they leave for the next ones, or null.
  Tensor states(Tape& tape, const data::Batch& batch, std::vector<data::CarriedState>* after) const;

  model::Options options_;
  bool by_document_ = false;  // region documents: the pieces of a stretch are one sequence
  embed::Embed embed_;
  std::unique_ptr<decode::TextDecoder> decoder_;
  Parameter* output_weight_ = nullptr;
  Parameter* output_bias_ = nullptr;
  TextGenerator generator_;
};

}  // namespace heed::task
