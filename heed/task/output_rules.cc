#include "heed/task/output_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/task/line_tokens.h"
#include "heed/text/utf8.h"

namespace heed::task {

namespace {

bool contains(const std::vector<int32_t>& tokens, const std::vector<int32_t>& phrase) {
  return std::search(tokens.begin(), tokens.end(), phrase.begin(), phrase.end()) != tokens.end();
}

bool is_empty(const LineRules& rules) { return rules.must.empty() && rules.must_not.empty() && rules.prefix.empty(); }

}  // namespace

void RulesOfLine::tell_missing(const search::Hypothesis& h, Output& output) const {
  for (const int64_t p : h.missing) output.missing.push_back(must[static_cast<size_t>(p)]);
  if (h.missing.empty()) return;
  output.missing_because =
      h.stuck ? "nothing may follow that keeps the rules: what must_not come leaves no way to it"
              : fmt::format("the longest output, {} tokens, was reached before: a larger max_length makes room",
                            h.tokens.size());
}

OutputRules::OutputRules(const PredictOptions& options, const text::Tokeniser& target, int64_t longest, size_t lines)
    : o_(options), target_(target), longest_(longest) {
  expect(o_.line_rules.empty() || lines == 0 || o_.line_rules.size() == lines, "line_rules: {} for {} lines",
         o_.line_rules.size(), lines);
  for_all_ = read({o_.must, o_.must_not, o_.prefix});
  check(for_all_);
  made_.push_back(rules_of(for_all_));
}

OutputRules::Tokens OutputRules::tokens_of(const std::string& phrase, const char* option) const {
  if (const std::string wrong = text::utf8_complaint(phrase); !wrong.empty()) throw Error(option + (": " + wrong));
  Tokens tokens = target_.encode(phrase);
  expect(!tokens.empty(), "{}: an empty phrase", option);
  const std::vector<std::string> unknown = unknown_in(phrase, tokens, target_);
  expect(unknown.empty(), "{}: the model cannot write '{}': its vocabulary lacks '{}'", option, phrase,
         unknown.empty() ? "" : unknown.front());
  return tokens;
}

OutputRules::LinePhrases OutputRules::read(const LineRules& rules) const {
  LinePhrases said;
  for (const std::string& phrase : rules.must) {
    Tokens tokens = tokens_of(phrase, "must");
    // What is asked for twice comes once.
    if (std::find(said.must_tokens.begin(), said.must_tokens.end(), tokens) != said.must_tokens.end()) continue;
    said.must.push_back(phrase);
    said.must_tokens.push_back(std::move(tokens));
  }
  for (const std::string& phrase : rules.must_not) {
    said.must_not.push_back(phrase);
    said.must_not_tokens.push_back(tokens_of(phrase, "must_not"));
  }
  said.prefix = rules.prefix;
  if (!said.prefix.empty()) said.prefix_tokens = tokens_of(said.prefix, "prefix");
  return said;
}

void OutputRules::check(const LinePhrases& said) const {
  expect(std::ssize(said.must) <= search::Rules::kMostMust, "must: at most {} phrases, not {}",
         search::Rules::kMostMust, said.must.size());
  int64_t longest = 0;
  for (const Tokens& tokens : said.must_tokens) longest = std::max(longest, std::ssize(tokens));
  expect(longest < longest_, "must: a phrase of {} tokens does not fit into an output of at most {}", longest,
         longest_);
  expect(std::ssize(said.prefix_tokens) < longest_,
         "prefix '{}' has {} tokens, which leaves no room in an output of at most {}", said.prefix,
         said.prefix_tokens.size(), longest_);
  for (size_t n = 0; n < said.must_not.size(); ++n) {
    for (size_t p = 0; p < said.must.size(); ++p)
      expect(!contains(said.must_tokens[p], said.must_not_tokens[n]), "must '{}' contains '{}', which must_not come",
             said.must[p], said.must_not[n]);
    expect(!contains(said.prefix_tokens, said.must_not_tokens[n]), "prefix '{}' contains '{}', which must_not come",
           said.prefix, said.must_not[n]);
  }
}

search::Rules OutputRules::rules_of(const LinePhrases& said) const {
  search::Rules rules{.prefix = said.prefix_tokens, .must = search::Phrases(said.must_tokens)};
  if (!said.must_not_tokens.empty()) rules.must_not = std::make_shared<search::Phrases>(said.must_not_tokens);
  return rules;
}

RulesOfLine OutputRules::of_line(size_t line) {
  const bool none_for_all = o_.must.empty() && o_.must_not.empty() && o_.prefix.empty();
  if (o_.line_rules.empty() || is_empty(o_.line_rules[line])) {
    if (none_for_all) return {};
    return {.rules = &made_.front(), .must = for_all_.must, .must_not = for_all_.must_not};
  }
  const LineRules& own = o_.line_rules[line];
  LineRules all{o_.must, o_.must_not, own.prefix.empty() ? o_.prefix : own.prefix};
  all.must.insert(all.must.end(), own.must.begin(), own.must.end());
  all.must_not.insert(all.must_not.end(), own.must_not.begin(), own.must_not.end());
  try {
    LinePhrases said = read(all);
    check(said);
    made_.push_back(rules_of(said));
    if (own.must_not.empty()) made_.back().must_not = made_.front().must_not;  // one automaton for all of them
    return {.rules = &made_.back(), .must = std::move(said.must), .must_not = std::move(said.must_not)};
  } catch (const Error& error) {
    return {.error = error.what()};
  }
}

}  // namespace heed::task
