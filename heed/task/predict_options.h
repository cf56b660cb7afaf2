// The options of a prediction. Those that are plain values are listed in decoding_table.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heed/task/decoding_table.h"
#include "heed/task/prediction.h"

namespace heed::search {
struct SearchTree;
}

namespace heed::task {

/// What the output for one line must look like, as text: beside what the options say for all lines.
struct LineRules {
  std::vector<std::string> must = {};
  std::vector<std::string> must_not = {};
  std::string prefix = {};  // instead of that for all lines, if there is one
};

/// docs/decoding.md explains them, with formulas and papers. The fields of the table come first: an int64_t beam = 0,
/// and so on.
struct PredictOptions {
#define HEED_FIELD(type, name, default_value, facts, meaning) type name = default_value;
  HEED_DECODING_OPTIONS(HEED_FIELD)
#undef HEED_FIELD

  std::vector<LineRules> line_rules = {};  // [lines] more must, must_not and prefix for each line; or none
  /// log p(source | output) by a model of the other direction, for pairs of an output and its source: added to the
  /// score, times rerank_weight.
  std::function<std::vector<PairScore>(std::span<const TextPair>)> rerank_reverse = {};
  int64_t first_line = 1;  // the number of the first line, which samples depend on; the others follow
  bool alignments = true;  // fill Output::alignment

  /// Outputs while they are written, by any model that writes: called with the number of a line and all of its text so
  /// far, whenever that changes, from any thread that searches. Labels are not written: it is never called for them.
  ///
  /// Greedy search and one sample only add tokens. Otherwise the text may change and become shorter: with a beam, it is
  /// that of the hypothesis that leads at a step (also with nbest; words of `must` are searched with a beam too); with
  /// a parallel decoder, the best draft after a pass. A line that is searched again, for another spelling of must_not
  /// or alone for lack of memory, begins anew. copy_unknown copies at the end: until then ⁇ stands there.
  std::function<void(int64_t line, const std::string& text)> on_text = {};

  /// One line, by beam or greedy search: filled with what the search considered (model/search/search_tree.h).
  search::SearchTree* tree = nullptr;
};

}  // namespace heed::task
