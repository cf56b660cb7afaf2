#include "heed/task/decoding_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "heed/base/error.h"

namespace heed::task {

namespace {

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(const std::string& value) { return value; }
template <class Number>
std::string text_of(Number value) {
  return fmt::format("{}", value);
}
/// Each with its length, so that no two lists have the same text.
std::string text_of(const std::vector<std::string>& values) {
  std::string text = fmt::format("{}", values.size());
  for (const std::string& value : values) text += fmt::format(" {}:{}", value.size(), value);
  return text;
}

template <class T>
constexpr bool kIsNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// "temperature 2", "sample": as messages begin.
std::string named(const DecodingOption& option, const PredictOptions& o) {
  const bool number = std::visit([&](auto field) { return kIsNumber<std::decay_t<decltype(o.*field)>>; }, option.field);
  return number ? fmt::format("{} {}", option.name, option.text(o)) : option.name;
}

const PredictOptions& defaults() {
  static const PredictOptions options;
  return options;
}

bool is_on(std::string_view name, const PredictOptions& o) { return !find_decoding_option(name)->is_default(o); }

/// A beam of 1 is no beam: every model takes it.
bool is_greedy(const DecodingOption& option, const PredictOptions& o) {
  return option.name == std::string_view("beam") && o.beam == 1;
}

}  // namespace

std::string DecodingOption::flag() const {
  std::string words = fmt::format("--{}", name);
  std::replace(words.begin(), words.end(), '_', '-');
  return words;
}

std::string DecodingOption::text(const PredictOptions& o) const {
  return std::visit([&](auto at) { return text_of(o.*at); }, field);
}

bool DecodingOption::is_default(const PredictOptions& o) const {
  return std::visit([&](auto at) { return o.*at == defaults().*at; }, field);
}

std::string DecodingOption::default_text() const {
  if (zero) return fmt::format("(default: {})", zero);
  return std::visit(
      [&](auto at) -> std::string {
        if constexpr (!kIsNumber<std::decay_t<decltype(defaults().*at)>>) return "";
        return fmt::format("(default {})", text(defaults()));
      },
      field);
}

std::span<const DecodingOption> decoding_options() {
#define HEED_ROW(type, name, default_value, facts, meaning) DecodingOption(#name, &PredictOptions::name, meaning).facts,
  static const std::vector<DecodingOption> all = {HEED_DECODING_OPTIONS(HEED_ROW)};
#undef HEED_ROW
  return all;
}

const DecodingOption* find_decoding_option(std::string_view name) {
  for (const DecodingOption& option : decoding_options()) {
    if (name == option.name) return &option;
    if (std::find(option.other_names.begin(), option.other_names.end(), name) != option.other_names.end())
      return &option;
  }
  return nullptr;
}

void check_values(const PredictOptions& o) {
  for (const DecodingOption& option : decoding_options()) {
    std::visit(
        [&](auto field) {
          using T = std::decay_t<decltype(o.*field)>;
          if constexpr (kIsNumber<T>) {
            const T value = o.*field, least = option.zero ? T{0} : static_cast<T>(option.least);
            expect(!option.has_range() || (value >= least && value <= static_cast<T>(option.most)),
                   "{}: expected a number from {} to {}, got {}", option.name, least, static_cast<T>(option.most),
                   value);
          }
        },
        option.field);
  }
  for (const DecodingOption& option : decoding_options())
    expect(!*option.needed || option.is_default(o) || is_on(option.needed, o), "{} is only for {}: it needs {}",
           named(option, o), std::string_view(option.needed) == "sample" ? "sampling" : option.needed, option.needed);
}

void check_readers(const PredictOptions& o, ModelKinds kind) {
  const char* hint = kind == kParallel
                         ? "is for models that write step by step, but this one writes all positions at once: use "
                           "iterations and lengths"
                     : kind == kStepwise ? "is for models that write all positions at once (model.decoder = "
                                           "\"parallel\"), but this one writes step by step: use beam"
                     : kind == kLabels   ? "is for models that write; this one gives a label"
                                         : "is for models that write; this one fills in tokens";
  for (const DecodingOption& option : decoding_options())
    expect((option.readers & kind) != 0 || option.is_default(o) || is_greedy(option, o), "{} {}", named(option, o),
           hint);
  if (kind == kStepwise) return;
  expect(o.line_rules.empty(), "line_rules {}", hint);
  // Whoever asks a model that gives labels for its tree gets none.
  expect((kind & kWriters) == 0 || !o.tree, "tree {}", hint);
  expect(kind == kParallel || !o.rerank_reverse, "rerank_reverse {}", hint);
}

std::string fingerprint(const PredictOptions& o) {
  std::string text = o.alignments ? "alignments\n" : "\n";
  for (const DecodingOption& option : decoding_options()) {
    if (option.group == DecodingGroup::sampling && !o.sample) continue;
    const std::string value = option.text(o);
    text += fmt::format("{} {}:{}\n", option.name, value.size(), value);
  }
  return text;
}

}  // namespace heed::task
