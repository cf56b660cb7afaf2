// The search options of predict, and of evaluate with a model.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include "cli/arguments.h"
#include "heed/predict/predictor.h"
#include "heed/task/decoding_option.h"

namespace heed::cli {

/// What the model of the other direction knows of the texts that it was asked about: tokens of each side.
struct ReverseTokens {
  struct Side {
    std::atomic<int64_t> all = 0, known = 0;
    bool is_strange() const { return all > 0 && known == 0; }
  };
  Side outputs, sources;  // of the first model: what the other one reads, and what it writes
};

struct SearchChoice {
  predict::Options options;
  int64_t usual_beam = 1;  // where no --beam is given
  int64_t batch = 0;       // lines; 0: enough to keep every thread busy
  std::string reverse;     // the folder of a model of the other direction; empty: none
  std::shared_ptr<ReverseTokens> reverse_tokens = {};
};

/// All options of these groups (heed/task/decoding_table.h), under their names and those of other programs.
void add_decoding(Verb verb, SearchChoice& choice, std::initializer_list<task::DecodingGroup> groups);
/// For a single output per source.
void add_search(Verb verb, SearchChoice& choice);
/// To choose among many outputs by more than their probability.
void add_reranking(Verb verb, SearchChoice& choice);
/// Loads the model of the other direction, if there is one.
void load_reverse(SearchChoice& choice);
/// After all answers: warns if that model knew no token of them.
void warn_about_reverse(const SearchChoice& choice);

/// Lines to process at a time.
size_t lines_at_once(const SearchChoice& choice);

/// Throws Error if the options cannot be combined, or if the model does not support them.
void check(const predict::Options& options, const predict::Predictor& predictor);

}  // namespace heed::cli
