// From the options of a model to those of its parts.
#pragma once

#include <cstdint>

#include "heed/model/choices.h"
#include "heed/model/embed/embed.h"
#include "heed/model/encode/encoder.h"
#include "heed/model/options.h"

namespace heed::model {

/// The named values of the options, looked up once. Throws, naming the option.
struct Resolved {
  Tied tied;
  Norm norm;
  NormOptions norm_options;
  Positions positions;
  RecurrentOptions::Kind cell;
  encode::Wiring wiring;

  explicit Resolved(const Options& options);
};

/// Vectors of tokens for an encoder or decoder that needs positions, or does not.
embed::Options embedding_options(const Options& options, const Resolved& words, int64_t vocabulary,
                                 bool needs_positions);

/// Rotary positions and ALiBi belong to self-attention, which a stack that needs positions has.
encode::StackOptions stack_options(const Options& options, const Resolved& words, int64_t layers, bool needs_positions);

}  // namespace heed::model
