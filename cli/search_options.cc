#include "cli/search_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/options.h"
#include "heed/kernels/threads.h"
#include "heed/tensor/error.h"

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
          if constexpr (std::is_arithmetic_v<T>) {
            if (option.has_range()) added.from_to(static_cast<T>(option.least), static_cast<T>(option.most));
          }
          if constexpr (std::is_same_v<T, std::vector<std::string>>) added.repeated();
          return added;
        }
      },
      option.field);
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
  c.options.rerank_reverse = [model](std::span<const predict::TextPair> pairs) { return model->score_all(pairs); };
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
