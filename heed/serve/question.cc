#include "heed/serve/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <type_traits>
#include <variant>

#include "heed/data/inline_picture.h"
#include "heed/data/picture_source.h"
#include "heed/task/decoding_option.h"
#include "heed/text/utf8.h"

namespace heed::serve {

void check_text(std::string_view text, const RequestLimits& limits) {
  // A text of n bytes has at most n characters: most need not be counted.
  if (std::ssize(text) <= limits.text) return;
  const auto characters = static_cast<int64_t>(text::utf8_count(text));
  if (characters > limits.text)
    throw Failure(413, "text_too_long",
                  fmt::format("A text has {} characters; the server takes at most {}.", characters, limits.text));
}

namespace {

/// A picture inside a line is limited by the size of the body. Whether the model reads pictures is not known yet:
/// check_line() asks again.
void check_source(std::string_view line, const RequestLimits& limits) {
  if (!data::is_inline_picture(line)) check_text(line, limits);
}

using Check = void (*)(std::string_view text, const RequestLimits& limits);

void check_texts(const std::vector<std::string>& texts, const RequestLimits& limits, const char* name,
                 Check check = check_text) {
  if (texts.empty()) throw Failure(400, "bad_member", fmt::format("\"{}\" is empty.", name));
  if (std::ssize(texts) > limits.lines)
    throw Failure(
        413, "too_many_texts",
        fmt::format("{} texts are too many: the server takes at most {} at once.", texts.size(), limits.lines));
  for (const std::string& text : texts) check(text, limits);
}

uint64_t random_seed() {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  return random() >> 11;  // a number that JavaScript can hold
}

/// The most that the server allows of a number, which may be less than the library does.
int64_t most_of(const task::DecodingOption& option, const RequestLimits& limits) {
  const auto most = static_cast<int64_t>(option.most);
  if (option.counted == task::Counted::tokens && limits.length > 0) return limits.length;
  return option.served_most > 0 ? option.served_most : most;
}

/// A number of hypotheses: what the library allows and the server does not has an error of its own.
void check_width(const char* name, int64_t value, const RequestLimits& limits) {
  if (value <= limits.beam) return;
  throw Failure(400, "beam_too_wide",
                fmt::format("\"{}\" is {}; the server allows at most {}.", name, value, limits.beam));
}

/// One option, under this name.
bool take_option(Members& members, const char* name, const task::DecodingOption& option, predict::Options& o,
                 const RequestLimits& limits) {
  return std::visit(
      [&](auto field) {
        auto& value = o.*field;
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, int64_t>) {
          const int64_t least = option.zero ? 0 : static_cast<T>(option.least);
          const bool given = members.take(name, value, least, most_of(option, limits));
          if (given && option.counted == task::Counted::outputs) check_width(name, value, limits);
          return given;
        } else if constexpr (std::is_same_v<T, double>) {
          return members.take(name, value, option.zero ? 0.0 : option.least, option.most);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          const bool given = members.take_one_or_more(name, value);
          if (given && !value.empty()) check_texts(value, limits, name);
          return given;
        } else {
          const bool given = members.take(name, value);
          if constexpr (std::is_same_v<T, std::string>) check_text(value, limits);
          return given;
        }
      },
      option.field);
}

/// Under its own name or that of another program; empty: it was not given.
std::string take_by_any_name(Members& members, const task::DecodingOption& option, predict::Options& o,
                             const RequestLimits& limits) {
  std::string given = take_option(members, option.name, option, o, limits) ? option.name : "";
  for (const char* other : option.other_names) {
    if (!take_option(members, other, option, o, limits)) continue;
    if (!given.empty())
      throw Failure(400, "bad_member", fmt::format("\"{}\" and \"{}\" are the same option: give one.", given, other));
    given = other;
  }
  return given;
}

/// The options of a search (heed/task/decoding_table.h).
void take_search(Members& members, predict::Options& o, const RequestLimits& limits) {
  o.max_length = limits.length;
  o.seed = random_seed();
  std::string of_samples;
  for (const task::DecodingOption& option : task::decoding_options()) {
    if (option.group == task::DecodingGroup::reranking) continue;
    const std::string given = take_by_any_name(members, option, o, limits);
    if (option.group == task::DecodingGroup::sampling && of_samples.empty() &&
        option.name != std::string_view("sample"))
      of_samples = given;
  }
  if (!o.sample && !of_samples.empty())
    throw Failure(400, "bad_member", fmt::format("\"{}\" is for samples; \"sample\": true asks for one.", of_samples));
}

}  // namespace

Question read_prediction(std::string_view body, const RequestLimits& limits) {
  Members members(body);
  Question q;
  members.take("model", q.model);
  std::string input;
  const bool one = members.take("input", input);
  q.several = members.take("inputs", q.inputs);
  if (one == q.several)
    throw Failure(400, "bad_member", "Either \"input\", a string, or \"inputs\", an array of strings, is needed.");
  if (one) q.inputs = {std::move(input)};
  check_texts(q.inputs, limits, "inputs", check_source);
  take_search(members, q.options, limits);
  std::string alignments = "none";
  members.take("alignments", alignments, {"none", "links", "matrix"});
  members.take("scores", q.shown.token_scores);
  members.take("stream", q.stream);
  members.finish();
  using enum predict::AlignmentForm;
  q.shown.alignments = alignments == "none" ? none : alignments == "links" ? links : matrix;
  q.shown.nbest = q.options.nbest > 1;
  q.options.alignments = alignments != "none" || q.options.copy_unknown;
  if (q.stream && q.several) throw Failure(400, "bad_member", "\"stream\" is for one \"input\", not for \"inputs\".");
  // Samples depend on their place in the list: they are drawn alone.
  if (!q.stream && !q.options.sample) q.alike = task::fingerprint(q.options);
  return q;
}

namespace {

/// Which attentions, heads and rows of them.
void take_shown(Members& members, view::Shown& shown, const RequestLimits& limits) {
  constexpr int64_t kMostNames = 1000;
  shown.tokens = limits.tokens;
  shown.weights = limits.weights;
  members.take_one_or_more("attentions", shown.attentions);
  if (std::ssize(shown.attentions) > kMostNames) members.refuse("attentions", "at most 1000 names");
  members.take("heads", shown.heads, 1, task::kMostHeadsOfALayer);
  if (std::ssize(shown.heads) > task::kMostHeadsOfALayer) members.refuse("heads", "each head once");
  std::vector<int64_t> rows;
  if (!members.take("rows", rows, 1, limits.tokens + 1)) return;
  if (rows.size() != 2 || rows[0] > rows[1]) members.refuse("rows", "the numbers of the first and of the last row");
  shown.first_row = rows[0];
  shown.last_row = rows[1];
}

}  // namespace

LookQuestion read_look(std::string_view body, const RequestLimits& limits) {
  Members members(body);
  LookQuestion look;
  Question& q = look.question;
  members.take("model", q.model);
  q.inputs.emplace_back();
  if (!members.take("input", q.inputs.front())) throw Failure(400, "bad_member", "\"input\" is missing.");
  look.has_target = members.take("target", look.target);
  check_texts(q.inputs, limits, "input", check_source);
  check_text(look.target, limits);
  take_search(members, q.options, limits);
  take_shown(members, look.shown, limits);
  members.finish();
  return look;
}

ScoreQuestion read_score(std::string_view body, const RequestLimits& limits) {
  Members members(body);
  ScoreQuestion q;
  members.take("model", q.model);
  members.take("scores", q.shown.token_scores);
  members.take("stride", q.options.stride, 0, task::kLongest);
  const auto take_pair = [&](Members& from) {
    predict::TextPair pair;
    from.take("source", pair.source);
    if (!from.take("target", pair.target)) from.refuse("target", "a string");
    check_source(pair.source, limits);
    check_text(pair.target, limits);
    q.pairs.push_back(std::move(pair));
  };
  if (const file::Json::Elements* pairs = members.take_elements("pairs")) {
    q.several = true;
    if (pairs->empty()) throw Failure(400, "bad_member", "\"pairs\" is empty.");
    if (std::ssize(*pairs) > limits.lines)
      throw Failure(
          413, "too_many_texts",
          fmt::format("{} pairs are too many: the server takes at most {} at once.", pairs->size(), limits.lines));
    for (const file::Json& element : *pairs) {
      Members pair(element, fmt::format("\"pairs\"[{}]", q.pairs.size()));
      take_pair(pair);
      pair.finish();
    }
  } else {
    take_pair(members);
  }
  members.finish();
  return q;
}

CompletionQuestion read_completion(std::string_view body, const RequestLimits& limits) {
  Members members(body);
  CompletionQuestion q;
  members.take("model", q.model);
  if (!members.take_one_or_more("prompt", q.prompts)) q.prompts = {""};
  check_texts(q.prompts, limits, "prompt");
  members.take("stream", q.stream);
  members.take("echo", q.echo);
  q.log_probabilities = members.has("logprobs");
  members.take_one_or_more("stop", q.stops);
  constexpr size_t kMostStops = 4;  // as OpenAI has it
  if (q.stops.size() > kMostStops) members.refuse("stop", "at most 4 strings");
  if (members.take("n", q.choices, 0, task::kWidest)) check_width("n", q.choices, limits);
  q.choices = std::max<int64_t>(q.choices, 1);
  predict::Options& o = q.options;
  o.max_length = 16;
  members.take("max_tokens", o.max_length, 1, limits.length > 0 ? limits.length : task::kLongest);
  o.temperature = 1.0;
  members.take("temperature", o.temperature, 0.0, task::kHottest);
  members.take("top_p", o.top_p, task::kLeastShare, 1.0);
  members.take("top_k", o.top_k, 0, task::kMostTopK);
  if (!members.take("seed", o.seed)) o.seed = random_seed();
  o.sample = o.temperature >= task::kColdest;  // 0 asks for the likeliest
  if (!o.sample) {
    if (q.choices > 1) members.refuse("n", "1 where the temperature is 0: all would be the same");
    o.temperature = 1.0;
    o.top_p = 1.0;
    o.top_k = 0;
  }
  o.nbest = q.choices;
  if (q.stream && (q.choices > 1 || q.prompts.size() > 1))
    throw Failure(400, "bad_member", "\"stream\" is for one prompt and one choice.");
  return q;
}

}  // namespace heed::serve
