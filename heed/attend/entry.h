// What the catalogue knows of a mechanism: all that is said about it anywhere is said here, once. Plain constants, so
// that no order of initialisation matters.
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

/// What an entry is of a whole attention.
enum class Part { score, normalise, region, time, input, structure };
const char* name_of(Part part);  // "score", ...

/// What stands in an attention of a model where a mechanism would make no sense: another one of the same part.
/// Null: the mechanism itself.
struct Replacements {
  const Entry* in_encoder = nullptr;  // self-attention of an encoder
  const Entry* in_decoder = nullptr;  // self-attention of a decoder, to what it has said
  const Entry* to_source = nullptr;   // attention of a decoder to the source
};

struct Entry {
  const char* id;    // row of the catalogue: "S5"
  const char* name;  // "additive"; the word in recipes, on the command line and in Python
  Part part;
  const char* title;     // a few words
  const char* formula;   // as in the paper, in ASCII
  const char* paper;     // authors, year, title
  const char* time;      // cost of n queries on m keys
  const char* memory;    // beyond inputs and outputs, while training
  const char* combines;  // with what, in words
  /// For a person who meets it first: what it does, when to take it. Paragraphs separated by a blank line.
  const char* page;
  const char* options = "";  // the options it reads, by name, with blanks between
  const char* aliases = "";  // other names, with blanks between

  /// The options that make this mechanism by its name alone, for example region = "causal" for `intra`.
  void (*preset)(Options&) = nullptr;

  // ------------------------------------------------------------------------------------------ facts about any part
  /// It counts where a query stands among those of its sequence, or what those before it saw.
  bool order_matters = false;
  /// No queries come from outside: they are learned, or made of the memory, or there is nothing to ask.
  bool own_queries = false;
  /// In a Transformer.
  Replacements instead = {};
  /// Why no attention between a decoder and a source can have it, as the rest of a sentence that begins with its name.
  /// Null: it can.
  const char* not_to_source = nullptr;

  // ---------------------------------------------------------------------------------------------- of a score
  /// It multiplies q' and k': they can be turned by rotary positions.
  bool inner_product = false;
  /// q' and k' are as wide as options.hidden says, where that is not 0.
  bool hidden_wide = false;
  /// It looks from a sequence at its own past: causal and strict belong to it.
  bool past_only = false;
  /// It has a number for each place: the option that says how many rows a memory, and places a query, may have.
  int64_t Options::*longest_memory = nullptr;

  // ---------------------------------------------------------------------------------------------- of a normaliser
  /// exp(score) over the sum of all exp(score): a sink can take a share of it, earlier steps can be divided out.
  bool sums_exp = false;
  /// It draws its keys while training: its model learns from rewards, with a baseline (reinforce.h).
  bool draws = false;

  // ---------------------------------------------------------------------------------------------- of a region
  bool reads_documents = false;  // Memory::documents and Queries::documents

  // ---------------------------------------------------------------------------------------------- of a time behaviour
  /// The one query of a sequence is made of so many rows of its memory, side by side: Attention reads the rows.
  int64_t keys_in_query = 0;
  bool step_by_step = false;       // the loop runs once for each step
  bool grows_with_memory = false;  // the memory may have grown between two steps
  bool guides = false;             // it has a cost that a model adds to its loss

  // ---------------------------------------------------------------------------------------------- of an input
  /// Says what the values are, and not where queries come from: no word of options.input.
  bool about_values = false;
  bool same_rows = false;  // queries and keys are the same rows

  // ---------------------------------------------------------------------------------------------- of a structure
  /// It scores in its own way: what options.score says is not read.
  bool own_score = false;
  /// The only score that it can have, which its preset names. Null: any.
  const Entry* only_score = nullptr;
  bool has_heads = false;                  // options.heads of them side by side
  const char* in_heads_instead = nullptr;  // without heads: what does the same inside of them
  bool needs_sentences = false;            // Memory::sentences

  /// Why it cannot be made with these options and the other parts, which they name; empty where it can. Null: always.
  /// The widths are those of one head.
  std::string (*refuses)(const Options&, const Parts&) = nullptr;

  // How it is made: exactly one of these, by its part. Inputs have none: they are options of Attention itself.
  std::unique_ptr<Score> (*make_score)(const Scope&, const Options&) = nullptr;
  std::unique_ptr<Normalise> (*make_normalise)(const Scope&, const Options&) = nullptr;
  std::unique_ptr<Region> (*make_region)(const Scope&, const Options&) = nullptr;
  std::unique_ptr<Time> (*make_time)(const Scope&, const Options&) = nullptr;
  std::unique_ptr<Mechanism> (*make_structure)(const Scope&, const Options&) = nullptr;
};

}  // namespace heed::attend
