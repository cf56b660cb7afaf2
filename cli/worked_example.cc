#include "cli/worked_example.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <type_traits>

#include "heed/base/error.h"
#include "heed/base/nearest.h"
#include "heed/layer/parameters.h"
#include "heed/tensor/tape.h"

namespace heed::cli {

namespace {

using attend::Options;

struct WordVectors {
  const char *source, *target;  // a word and its translation
  float key[2], query[2], value[2];
};

/// A query looks a little further in the direction of the key that it is meant to find.
constexpr WordVectors kWords[] = {
    {"the", "die", {1.0f, 0.2f}, {1.2f, 0.1f}, {1.0f, 0.0f}},
    {"cat", "Katze", {0.4f, 1.5f}, {0.5f, 1.6f}, {0.0f, 1.0f}},
    {"sat", "saß", {-1.2f, 0.9f}, {-1.3f, 1.0f}, {1.0f, 1.0f}},
    {"on", "auf", {-1.4f, -0.5f}, {-1.5f, -0.6f}, {-1.0f, 0.0f}},
    {"a", "einer", {0.3f, -1.0f}, {0.4f, -1.2f}, {0.0f, -1.0f}},
    {"mat", "Matte", {1.6f, -1.1f}, {1.7f, -1.2f}, {1.0f, -1.0f}},
};
constexpr int64_t kWidth = 2;
constexpr uint64_t kSeed = 1;

template <class T>
T number_of(const std::string& name, const std::string& text) {
  T value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  expect(failed == std::errc() && end == text.data() + text.size(), "--set {}={}: expected a number", name, text);
  return value;
}

void set_option(Options& options, const std::string& name, const std::string& text) {
  bool found = false;
  std::vector<std::string> names;
  attend::each_option(options, [&](const std::string& each, auto& field) {
    names.push_back(each);
    if (each != name) return;
    found = true;
    using Type = std::decay_t<decltype(field)>;
    if constexpr (std::is_same_v<Type, std::string>) {
      field = text;
    } else if constexpr (std::is_same_v<Type, bool>) {
      expect(text == "true" || text == "false", "--set {}={}: expected true or false", name, text);
      field = text == "true";
    } else {
      field = number_of<Type>(name, text);
    }
  });
  if (!found) throw Error(unknown_name("option of attention", name, names));
}

/// What the name stands for, as small as the sentence.
Options small_options(const attend::Entry& entry, int64_t value_width,
                      const std::vector<std::pair<std::string, std::string>>& set) {
  const std::vector<std::string> reads = attend::words(entry.options);
  const auto read = [&](const char* option) { return std::find(reads.begin(), reads.end(), option) != reads.end(); };
  Options o;
  o.query_width = o.key_width = kWidth;
  o.value_width = value_width;
  if (read("max_length")) o.max_length = std::ssize(kWords);
  if (read("window")) o.window = 1;
  if (read("sinks")) o.sinks = 1;
  if (read("queries")) o.queries = 2;
  o = attend::options_of(entry.name, o);
  o.heads = std::min(o.heads, kWidth);
  for (const auto& [name, text] : set) set_option(o, name, text);
  return o;
}

/// The second of two: some parts have no values of their own.
Options fitting_options(const attend::Entry& entry, const std::vector<std::pair<std::string, std::string>>& set,
                        std::string& refused) {
  std::vector<std::string> reasons;
  for (const int64_t value_width : {kWidth, int64_t{0}}) {
    Options options = small_options(entry, value_width, set);
    reasons = attend::refusals(options);
    if (reasons.empty()) return options;
  }
  refused = fmt::format("{}", fmt::join(reasons, "; "));
  return {};
}

std::vector<float> rows_of(const float (WordVectors::*vector)[2], size_t words) {
  std::vector<float> rows;
  for (const WordVectors& word : std::span(kWords).first(words))
    rows.insert(rows.end(), std::begin(word.*vector), std::end(word.*vector));
  return rows;
}

/// What is attended to, and from where. It outlives the tape.
struct Inputs {
  bool own_queries = false, sentences = false;
  std::vector<int32_t> documents = {};
  std::vector<uint8_t> mask = {};
};

Inputs inputs_of(const attend::Entry& entry, const attend::Parts& parts, size_t words) {
  Inputs in{.own_queries = parts.any(&attend::Entry::own_queries), .sentences = parts.structure->needs_sentences};
  for (size_t i = 0; parts.any(&attend::Entry::reads_documents) && i < words; ++i)
    in.documents.push_back(i < words / 2 ? 0 : 1);
  if (&entry == &attend::masked_entry) {  // the third word is hidden
    in.mask.assign(words * words, 1);
    for (size_t i = 0; i < words; ++i) in.mask[i * words + 2] = 0;
  }
  return in;
}

struct Found {
  int64_t heads = 0, queries = 0, width = 0;
  std::vector<float> weights, context;
  std::vector<NamedValues> parameters;
};

/// Words of sentences by the weight of the sentence times their own in it.
std::vector<float> weights_of_words(const attend::Attended& attended) {
  const attend::Weights& outer = attended.weights;
  const attend::Weights& inner = attended.inner_weights;
  std::vector<float> weights;
  for (int64_t s = 0; s < inner.batch; ++s)
    for (int64_t w = 0; w < inner.keys; ++w) weights.push_back(outer.at(0, 0, 0)[s] * inner.at(s, 0, 0)[w]);
  return weights;
}

Found computed(const Options& options, const WorkedExample& example, const Inputs& in) {
  Parameters parameters(kSeed);
  const auto mechanism = attend::make(parameters, options);
  const int64_t words = std::ssize(example.keys), sequences = in.sentences ? 2 : 1;
  Tape tape({.recording = false, .training = false});
  attend::Memory memory{
      .rows = {tape.input(example.key_rows.data(), words, kWidth), tape.even_offsets(sequences, words / sequences)}};
  if (options.value_width > 0) memory.values = tape.input(example.value_rows.data(), words, kWidth);
  if (in.sentences) memory.sentences = tape.even_offsets(1, sequences);
  attend::Queries queries;
  if (!in.own_queries)
    queries.rows = {tape.input(example.query_rows.data(), words, kWidth), tape.even_offsets(1, words)};
  if (!in.documents.empty()) memory.documents = queries.documents = in.documents.data();
  if (!in.mask.empty()) {
    queries.mask = in.mask.data();
    queries.mask_keys = words;
  }
  const attend::Attended attended = mechanism->attend(queries, mechanism->prepare(memory), {}, {.weights = true});
  Found found;
  const attend::Weights& w = attended.weights;
  found.heads = w.heads;
  found.queries = w.queries;
  if (in.sentences)
    found.weights = weights_of_words(attended);
  else
    found.weights.assign(w.data, w.data + w.batch * w.heads * w.queries * w.keys);
  found.width = attended.context.cols();
  const Tensor context = attended.context;
  found.context.assign(context.data(), context.data() + context.rows() * context.cols());
  for (Parameter& p : parameters) {
    const Tensor values = tape.parameter(p);
    found.parameters.push_back({p.name, p.shape, {values.data(), values.data() + values.rows() * values.cols()}});
  }
  return found;
}

/// The scores are the weights that no normaliser, region or step has touched. None where a mechanism has no such form.
std::vector<float> scores_of(Options options, const attend::Parts& parts, const WorkedExample& example,
                             const Inputs& in) {
  if (parts.structure->own_score || in.own_queries) return {};
  options.normalise = "identity";
  options.time = "dynamic";
  options.divide_by_visible = false;
  if (!parts.score->past_only) options.region = "global";
  if (!attend::refusals(options).empty()) return {};
  return computed(options, example, {}).weights;
}

}  // namespace

WorkedExample worked_example(const attend::Entry& entry, const ExampleOptions& asked) {
  WorkedExample example;
  example.options = fitting_options(entry, asked.set, example.refused);
  if (!example.refused.empty()) return example;
  std::vector<std::string> given;
  for (const auto& [name, text] : asked.set) given.push_back(name);
  const std::vector<std::string> without_effect = attend::unread(example.options, given);
  expect(without_effect.empty(), "--set: {}", fmt::join(without_effect, "\n"));
  const attend::Parts parts = attend::resolve(example.options);
  const size_t words = parts.structure->needs_sentences ? std::size(kWords) : asked.words;
  const Inputs in = inputs_of(entry, parts, words);
  const bool itself = parts.input->same_rows || entry.instead.to_source || entry.not_to_source;
  for (const WordVectors& word : std::span(kWords).first(words)) {
    example.keys.emplace_back(word.source);
    if (!in.own_queries) example.queries.emplace_back(itself ? word.source : word.target);
  }
  example.key_rows = rows_of(&WordVectors::key, words);
  example.value_rows = rows_of(&WordVectors::value, words);
  example.plain = example.options.value_width == 0;
  if (!in.own_queries) {
    example.query_rows = itself ? example.key_rows : rows_of(&WordVectors::query, words);
    if (!asked.query.empty()) {
      expect(std::ssize(asked.query) == kWidth, "--query: expected {} numbers, such as 0.5,1.6; got {}", kWidth,
             asked.query.size());
      std::copy_n(asked.query.begin(), kWidth, example.query_rows.begin() + kWidth * kExampleQuery);
    }
  }
  const Found found = computed(example.options, example, in);
  for (int64_t n = 0; in.own_queries && n < found.queries; ++n)
    example.queries.push_back(found.queries == 1 ? "the query" : fmt::format("query {}", n + 1));
  example.parameters = found.parameters;
  example.heads = found.heads;
  example.width = found.width;
  example.weights = found.weights;
  example.context = found.context;
  example.scores = scores_of(example.options, parts, example, in);
  return example;
}

}  // namespace heed::cli
