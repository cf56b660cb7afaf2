// states -> logits: the last layer of a model that writes targets.
#pragma once

#include <span>

#include "heed/layer/parameters.h"
#include "heed/model/choices.h"
#include "heed/model/options.h"
#include "heed/tensor/op/linear.h"
#include "heed/tensor/op/output_loss.h"
#include "heed/tensor/tape.h"

namespace heed::model {

/// "output.weight" [target_vocabulary, width], unless it is the table of the target's vectors, and "output.bias".
struct OutputLayer {
  Parameter* weight = nullptr;
  Parameter* bias = nullptr;

  OutputLayer() = default;
  /// `width`: of the states. `table`: the vectors of the target's tokens, which tied embeddings use here as well.
  OutputLayer(const Scope& root, const Options& o, int64_t width, Parameter* table) {
    const Scope output = root / "output";
    weight = value_of(kTied, o.tied, "model: tied") == Tied::none
                 ? &output.make_weight("weight", {o.target_vocabulary, width}, Initialiser::xavier())
                 : table;
    bias = &output.make("bias", {o.target_vocabulary}, Initialiser::constant(0.0f));
  }

  /// states [rows, width] -> [rows, target_vocabulary]
  Tensor logits(Tensor states) const {
    Tape& tape = states.tape();
    return linear(states, tape.parameter(*weight), tape.parameter(*bias));
  }
  /// Of the right tokens [rows].
  OutputLoss loss(Tensor states, std::span<const int32_t> tokens, const OutputLossOptions& options,
                  const CopyPart& copy = {}) const {
    Tape& tape = states.tape();
    return output_loss(states, tape.parameter(*weight), tape.parameter(*bias), tokens, options, copy);
  }
};

}  // namespace heed::model
