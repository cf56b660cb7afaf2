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

enum class Part { score, normalise, region, time, input, structure };
const char* name_of(Part part);  // "score", ...

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
  const char*
      page;  // for a person who meets it first: what it does, when to take it. Paragraphs parted by a blank line
  const char* options = "";  // the options it reads, by name, with blanks between
  const char* aliases = "";  // other names, with blanks between

  /// The options that make this mechanism by its name alone, for example region = "causal" for `intra`.
  void (*preset)(Options&) = nullptr;
  /// A structure that scores in its own way: what options.score says is not read.
  bool own_score = false;
  /// A score that multiplies q' and k': they can be turned by rotary positions.
  bool inner_product = false;
  /// A score with a number for each place: the option that says how many rows a memory, and places a query, may have.
  int64_t Options::*longest_memory = nullptr;
  /// A normaliser that draws its keys while training: its model learns from rewards, with a baseline (reinforce.h).
  bool draws = false;
  /// Why the other parts cannot stand beside it; empty where they can. Null: it stands beside anything.
  std::string (*refuses)(const Options&) = nullptr;

  // How it is made: exactly one of these, by its part. Inputs have none: they are options of Attention itself.
  std::unique_ptr<Score> (*make_score)(const Scope&, const Options&) = nullptr;
  std::unique_ptr<Normalise> (*make_normalise)(const Scope&, const Options&) = nullptr;
  std::unique_ptr<Region> (*make_region)(const Scope&, const Options&) = nullptr;
  std::unique_ptr<Time> (*make_time)(const Scope&, const Options&) = nullptr;
  std::unique_ptr<Mechanism> (*make_structure)(const Scope&, const Options&) = nullptr;
};

}  // namespace heed::attend
