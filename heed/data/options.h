// Where the data of a training run comes from, and how it is split into tokens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "heed/data/pairs.h"
#include "heed/text/tokeniser.h"

namespace heed::data {

/// The current folder, or that of the recipe.
inline constexpr const char *kToCurrent = "current", *kToRecipe = "recipe";

/// Which tokens of a text a model is asked about, and what it reads instead of them.  Devlin et al. 2019
struct MaskOptions {
  double share = 0.15;    // of all tokens; of these
  double replaced = 0.8;  // become the mask,
  double random = 0.1;    // become another token, and the rest stay
};

struct Options {
  std::string task = "none";  // a built-in one (built_in_task.h); none: the data is in files
  int64_t examples = 50'000;  // of a built-in task
  int64_t valid_examples = 2'000;

  std::string folder = {};               // the names below are relative to it
  std::string relative_to = kToCurrent;  // what folder and names are relative to
  PairFiles train = {}, valid = {};
  std::filesystem::path alignments = {};    // of the training pairs, a line for each (alignments.h); empty: none
  std::string alignments_count = "tokens";  // what its numbers count: tokens or words
  double held_out = 0;  // without files for validation: the share of the sources held out for it; 0: what fits

  std::string documents = "file";  // running text: file, blank_line or line (task/running_text.h)
  MaskOptions masks = {};          // masked tokens

  text::TokeniserOptions source = {}, target = {};
  bool joint = false;  // one vocabulary for both sides, made as `source` says
  int64_t max_source = 0, max_target = 0;

  std::filesystem::path vectors = {};  // of words, to start from (word_vectors.h); empty: none
  bool vectors_fixed = false;          // they are not trained

  std::string class_weights = "none";  // of labels in the loss: none, balanced, or label=weight with commas between
  std::string label_separator = {};    // a text may have several labels, with this between them; empty: it has one

  bool has_validation_files() const { return !valid.source.empty() || !valid.target.empty() || !valid.tsv.empty(); }
};

}  // namespace heed::data
