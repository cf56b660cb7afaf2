#include "cli/search_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/counter.h"
#include "cli/options.h"
#include "heed/base/error.h"
#include "heed/kernels/threads.h"
#include "heed/text/tokeniser.h"
#include "heed/text/utf8.h"

namespace heed::cli {

namespace {

using task::DecodingGroup;
using task::DecodingOption;

/// "with sample: ..." -> "with --sample: ...": the names of options as the program has them.
std::string with_flags(std::string words) {
  std::vector<std::string> names = {"rerank_reverse"};
  for (const DecodingOption& option : task::decoding_options()) names.emplace_back(option.name);
  for (const std::string& name : names) {
    // A name with an underscore is no English word; others are names only behind these words.
    const bool unmistakable = name.find('_') != std::string::npos;
    for (const std::string before : {unmistakable ? " " : "with ", " or ", "without a "}) {
      const size_t at = words.find(before + name);
      if (at == std::string::npos) continue;
      std::string flag = "--" + name;
      std::replace(flag.begin(), flag.end(), '_', '-');
      words.replace(at + before.size(), name.size(), flag);
    }
  }
  return words;
}

/// What help says of an option, with its default.
std::string help_of(const DecodingOption& option, const SearchChoice& c) {
  std::string words = with_flags(option.meaning);
  words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  std::string otherwise = option.default_text();
  if (c.usual_beam > 1 && option.field == DecodingOption::Field(&predict::Options::beam))
    otherwise = fmt::format("(default {})", c.usual_beam);
  return otherwise.empty() ? words : fmt::format("{} {}", words, otherwise);
}

/// "--beam", and the names that other programs have for it.
std::string names_of(const DecodingOption& option) {
  std::string names = option.flag();
  for (std::string other : option.other_names) {
    std::replace(other.begin(), other.end(), '_', '-');
    names += ",--" + other;
  }
  return names;
}

Option add(Verb verb, const DecodingOption& option, SearchChoice& c) {
  const std::string names = names_of(option), help = help_of(option, c);
  return std::visit(
      [&](auto field) {
        auto& value = c.options.*field;
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, bool>) {
          return verb.flag(names, value, help);
        } else {
          Option added = verb.option(names, value, help).value(option.placeholder);
          if constexpr (std::is_same_v<T, uint64_t>) {
            added.from_to(uint64_t{0}, std::numeric_limits<uint64_t>::max());
          } else if constexpr (std::is_arithmetic_v<T>) {
            if (option.has_range()) added.from_to(static_cast<T>(option.least), static_cast<T>(option.most));
          }
          if constexpr (std::is_same_v<T, std::vector<std::string>>) added.repeated();
          return added;
        }
      },
      option.field);
}

void count_tokens(const std::string& text, const text::Tokeniser& tokeniser, ReverseTokens::Side& side) {
  if (!text::utf8_complaint(text).empty()) return;
  const std::vector<int32_t> ids = tokeniser.encode(text);
  side.all += std::ssize(ids);
  side.known += std::count_if(ids.begin(), ids.end(), [](int32_t id) { return id != text::kUnknown; });
}

}  // namespace

void add_decoding(Verb verb, SearchChoice& c, std::initializer_list<DecodingGroup> groups) {
  std::map<std::string_view, Option> added;
  for (const DecodingGroup group : groups)
    for (const DecodingOption& option : task::decoding_options())
      if (option.group == group) added.emplace(option.name, add(verb, option, c));
  for (const DecodingOption& option : task::decoding_options())
    if (*option.needed && added.contains(option.name)) added.at(option.name).needs(added.at(option.needed));
}

void add_search(Verb verb, SearchChoice& c) {
  add_decoding(verb, c, {DecodingGroup::search});
  verb.option("--batch", c.batch, "Lines to process at a time (default: 64 per thread)")
      .value("SENTENCES")
      .from_to(int64_t{1}, task::kLongest);
}

size_t lines_at_once(const SearchChoice& c) {
  constexpr int64_t kOfAThread = 64;  // several batches, so that the threads finish at about the same time
  return static_cast<size_t>(c.batch > 0 ? c.batch : kOfAThread * kernels::most_threads());
}

void add_reranking(Verb verb, SearchChoice& c) {
  verb.option("--rerank-reverse", c.reverse,
              "Add to each score log p(source | output) by this model of the other direction")
      .value("MODEL");
  add_decoding(verb, c, {DecodingGroup::reranking});
}

void load_reverse(SearchChoice& c) {
  if (c.reverse.empty()) return;
  const auto model = std::make_shared<const predict::Predictor>(load_model({.folder = c.reverse}));
  c.reverse_tokens = std::make_shared<ReverseTokens>();
  c.options.rerank_reverse = [model, tokens = c.reverse_tokens](std::span<const predict::TextPair> pairs) {
    for (const predict::TextPair& pair : pairs) {
      count_tokens(pair.source, model->source(), tokens->outputs);
      count_tokens(pair.target, model->target(), tokens->sources);
    }
    return model->score_all(pairs);
  };
}

void warn_about_reverse(const SearchChoice& c) {
  if (!c.reverse_tokens) return;
  const auto warn_of = [&](const ReverseTokens::Side& side, const char* what) {
    if (side.is_strange())
      warn(
          fmt::format("--rerank-reverse {}: this model knows no token of the {}, so what it adds to the scores says "
                      "nothing; it must read what the first model writes, and write what that one reads",
                      c.reverse, what));
  };
  warn_of(c.reverse_tokens->outputs, "outputs");
  warn_of(c.reverse_tokens->sources, "sources");
}

void check(const predict::Options& options, const predict::Predictor& predictor) {
  try {
    predictor.check(options);
  } catch (const Error& error) {  // its message begins with the name of an option
    std::string message = error.what();
    const size_t end = std::min(message.find(' '), message.size());
    std::replace(message.begin(), message.begin() + static_cast<ptrdiff_t>(end), '_', '-');
    throw Error("--" + message.substr(0, end) + with_flags(message.substr(end)));
  }
}

}  // namespace heed::cli
