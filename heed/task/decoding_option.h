// The options of decoding as a list, for whoever reads, checks or describes them: the program, HTTP, Python, documents.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heed/task/predict_options.h"

namespace heed::task {

/// What an option is about. Commands and documents take whole groups.
enum class DecodingGroup { search, outputs, rules, reranking, sampling, alignment };

/// Kinds of models that an option means something for.
enum ModelKinds : unsigned {
  kStepwise = 1,  // write step by step
  kParallel = 2,  // write all positions at once
  kLabels = 4,    // write nothing: give labels
  kFilling = 8,   // write nothing: fill in masked tokens
  kVectors = 16,  // write nothing: give vectors, which no option changes
  kWriters = kStepwise | kParallel,
  kAll = kWriters | kLabels | kFilling,
};

/// What the number of an option counts: a server has limits for both.
enum class Counted { nothing, outputs, tokens };

/// One line of HEED_DECODING_OPTIONS.
/// Threads: any number at once, as long as none changes it.
class DecodingOption {
 public:
  using Field =
      std::variant<bool PredictOptions::*, int64_t PredictOptions::*, uint64_t PredictOptions::*,
                   double PredictOptions::*, std::string PredictOptions::*, std::vector<std::string> PredictOptions::*>;

  const char* name;                           // in C++, Python and HTTP
  Field field;                                // where the value goes
  const char* meaning;                        // a sentence, without its default
  DecodingGroup group = {};                   //
  double least = 0.0, most = 0.0;             // the range of a number; both 0: none
  const char* zero = nullptr;                 // what 0, its default, stands for; null: 0 has no special meaning
  const char* placeholder = "";               // what help calls its value
  const char* needed = "";                    // an option that must be on for it; empty: none
  unsigned readers = kAll;                    // ModelKinds
  Counted counted = Counted::nothing;         // what a server limits
  int64_t served_most = 0;                    // the most that a server takes; 0: as the library
  std::vector<const char*> other_names = {};  // of Hugging Face and CTranslate2

  DecodingOption(const char* its_name, Field its_field, const char* its_meaning)
      : name(its_name), field(its_field), meaning(its_meaning) {}

  DecodingOption& in(DecodingGroup its_group) { return group = its_group, *this; }
  DecodingOption& from_to(double first, double last) { return least = first, most = last, *this; }
  DecodingOption& or_zero(const char* stands_for) { return zero = stands_for, *this; }
  DecodingOption& value(const char* word) { return placeholder = word, *this; }
  DecodingOption& needs(const char* option) { return needed = option, *this; }
  DecodingOption& read_by(unsigned kinds) { return readers = kinds, *this; }
  DecodingOption& counts(Counted what) { return counted = what, *this; }
  DecodingOption& served_to(int64_t last) { return served_most = last, *this; }
  DecodingOption& also(const char* other_name) { return other_names.push_back(other_name), *this; }

  bool has_range() const { return least < most; }
  /// As `heed predict` has it: "--no-repeat-ngram".
  std::string flag() const;
  /// "(default 0.5)", or "" where a default needs no word.
  std::string default_text() const;
  bool is_default(const PredictOptions& options) const;
  /// Its value as text: "5", "true", "word".
  std::string text(const PredictOptions& options) const;
};

/// In the order of the table.
std::span<const DecodingOption> decoding_options();
/// By its name, or by one that another program has for it; null: there is none.
const DecodingOption* find_decoding_option(std::string_view name);

/// Throws if a value is out of its range, or needs an option that is off.
void check_values(const PredictOptions& options);
/// Throws if an option that was set means nothing for such a model.
void check_readers(const PredictOptions& options, ModelKinds kind);

/// All that decides what a search finds, as text. Rules of single lines, functions and trees are not part of it.
std::string fingerprint(const PredictOptions& options);

}  // namespace heed::task
