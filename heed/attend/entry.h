// What the catalogue knows about a mechanism: the only source for everything said about it. Plain constants, so that
// the order of initialisation does not matter.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "heed/attend/mechanism.h"
#include "heed/attend/options.h"
#include "heed/layer/parameters.h"

namespace heed::attend {

class Score;      // score/score.h
class Normalise;  // normalise/normalise.h
class Region;     // region/region.h
class Time;       // time/time.h
struct Entry;
struct Parts;  // parts.h

/// Which part of an attention an entry is.
enum class Part { score, normalise, region, time, input, structure };
const char* name_of(Part part);  // "score", ...

/// What a model uses instead where a mechanism would make no sense: another one of the same part. Null: the mechanism
/// itself.
struct Replacements {
  const Entry* in_encoder = nullptr;  // self-attention of an encoder
  const Entry* in_decoder = nullptr;  // self-attention of a decoder, to its output so far
  const Entry* to_source = nullptr;   // attention of a decoder to the source
};

struct Entry {
  const char* id;    // row of the catalogue: "S5"
  const char* name;  // "additive"; the name in recipes, on the command line and in Python
  Part part;
  const char* title;     // a few words
  const char* formula;   // as in the paper, in ASCII
  const char* paper;     // authors, year, title
  const char* time;      // cost of n queries on m keys
  const char* memory;    // beyond inputs and outputs, while training
  const char* combines;  // with what, in words
  /// For newcomers: what it does and when to use it. Paragraphs are separated by a blank line.
  const char* page;
  const char* options = "";  // the names of the options it uses, separated by spaces
  const char* aliases = "";  // other names, separated by spaces

  /// The options that the name alone implies, for example region = "causal" for `intra`.
  void (*preset)(Options&) = nullptr;

  // ------------------------------------------------------------------------------------------ facts about any part
  /// It depends on a query's position in its sequence, or on what earlier queries saw.
  bool order_matters = false;
  /// No queries come from outside: they are learned, made from the memory, or not needed.
  bool own_queries = false;
  /// In a Transformer.
  Replacements instead = {};
  /// Why attention from a decoder to a source cannot use it, as the rest of a sentence that starts with its name. Null:
  /// it can.
  const char* not_to_source = nullptr;

  // ---------------------------------------------------------------------------------------------- of a score
  /// It multiplies q' and k', so rotary positions can rotate them.
  bool inner_product = false;
  /// q' and k' have the width options.hidden, if that is not 0.
  bool hidden_wide = false;
  /// It attends from a sequence to its own past: it needs causal and strict.
  bool past_only = false;
  /// It has a number per position: the option that limits the rows of a memory and the positions of a query.
  int64_t Options::*longest_memory = nullptr;

  // ---------------------------------------------------------------------------------------------- of a normaliser
  /// exp(score) over the sum of all exp(score): a sink can take a share, and earlier steps can be divided out.
  bool sums_exp = false;
  /// It draws its keys during training: its model learns from rewards, with a baseline (reinforce.h).
  bool draws = false;

  // ---------------------------------------------------------------------------------------------- of a region
  bool reads_documents = false;  // Memory::documents and Queries::documents
  bool limits_nothing = false;   // beyond the lengths and masks of a call, which every region respects

  // ---------------------------------------------------------------------------------------------- of a time behaviour
  /// The one query of a sequence is made from this many rows of its memory, side by side: Attention reads the rows.
  int64_t keys_in_query = 0;
  bool step_by_step = false;       // the loop runs once for each step
  bool grows_with_memory = false;  // the memory may have grown between two steps
  bool guides = false;             // it has a cost that a model adds to its loss

  // ---------------------------------------------------------------------------------------------- of an input
  /// It says what the values are, not where queries come from, so it is not a value of options.input.
  bool about_values = false;
  bool same_rows = false;  // queries and keys are the same rows

  // ---------------------------------------------------------------------------------------------- of a structure
  /// It has its own score: options.score is not used.
  bool own_score = false;
  /// The only score that it can have, set by its preset. Null: any.
  const Entry* only_score = nullptr;
  bool has_heads = false;                  // it has options.heads heads
  const char* in_heads_instead = nullptr;  // without heads: what does the same inside heads
  bool needs_sentences = false;            // Memory::sentences
  bool weighs_sentences = false;           // Memory::documents are the sentences of a source

  /// Why it cannot be made with these options and the other parts they name; empty if it can. Null: it always can. The
  /// widths are those of one head.
  std::string (*refuses)(const Options&, const Parts&) = nullptr;

  // How to make it: exactly one of these, depending on its part. Inputs have none: they are options of Attention
  // itself.
  std::unique_ptr<Score> (*make_score)(const Scope&, const Options&) = nullptr;
  std::unique_ptr<Normalise> (*make_normalise)(const Scope&, const Options&) = nullptr;
  std::unique_ptr<Region> (*make_region)(const Scope&, const Options&) = nullptr;
  std::unique_ptr<Time> (*make_time)(const Scope&, const Options&) = nullptr;
  std::unique_ptr<Mechanism> (*make_structure)(const Scope&, const Options&) = nullptr;
};

}  // namespace heed::attend
