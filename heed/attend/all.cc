#include "heed/attend/all.h"

#include <fmt/ranges.h>

#include <limits>

#include "heed/attend/census.h"
#include "heed/base/error.h"
#include "heed/base/list.h"

namespace heed::attend {

const char* name_of(Part part) {
  switch (part) {
    case Part::score:
      return "score";
    case Part::normalise:
      return "normalise";
    case Part::region:
      return "region";
    case Part::time:
      return "time";
    case Part::input:
      return "input";
    case Part::structure:
      return "structure";
  }
  return "";
}

namespace {

List<Entry>& mechanisms() {
#define HEED_ADDRESS(name) &name##_entry,
  static List<Entry> list("mechanism", {HEED_MECHANISMS(HEED_ADDRESS)});
#undef HEED_ADDRESS
  return list;
}

/// Whether it is a value of the option of this part.
bool is_word_for(const Entry& entry, Part part) { return entry.part == part && !entry.about_values; }

}  // namespace

const std::vector<const Entry*>& all() { return mechanisms().entries(); }

std::vector<std::string> words(const char* text) { return words_in(text); }

std::vector<std::string> words_for(Part part) {
  return mechanisms().names([part](const Entry& entry) { return is_word_for(entry, part); });
}

namespace {

/// "causal+sliding_window" -> causal, sliding_window
std::vector<std::string> region_words(std::string_view region) {
  std::vector<std::string> found(1);
  for (const char c : region) {
    if (c == '+')
      found.emplace_back();
    else if (c != ' ')
      found.back() += c;
  }
  return found;
}

/// The entry that an option of this part names, or null.
const Entry* look_up(std::string_view word, Part part) {
  const Entry* e = mechanisms().look_up(word);
  return e && is_word_for(*e, part) ? e : nullptr;
}

std::string unknown(std::string_view word, Part part) { return unknown_name(name_of(part), word, words_for(part)); }

}  // namespace

std::vector<std::string> unknown_words(const Options& o, Parts& parts) {
  std::vector<std::string> reasons;
  const auto named = [&](std::string_view word, Part part) {
    const Entry* e = look_up(word, part);
    if (!e) reasons.push_back(unknown(word, part));
    return e;
  };
  parts = {};
  parts.structure = named(o.structure, Part::structure);
  parts.score = named(o.score, Part::score);
  parts.normalise = named(o.normalise, Part::normalise);
  parts.time = named(o.time, Part::time);
  for (const auto& word : region_words(o.region))
    if (const Entry* e = named(word, Part::region)) parts.regions.push_back(e);
  parts.input = named(o.input, Part::input);
  return reasons;
}

Parts resolve(const Options& options) {
  Parts parts;
  const auto reasons = unknown_words(options, parts);
  expect(reasons.empty(), "attention: {}", fmt::join(reasons, "\n"));
  return parts;
}

Options canonical(Options o) {
  const auto main_form = [](std::string& word, Part part) {
    if (const Entry* e = look_up(word, part)) word = e->name;
  };
  main_form(o.structure, Part::structure);
  main_form(o.score, Part::score);
  main_form(o.normalise, Part::normalise);
  main_form(o.time, Part::time);
  std::string region;
  for (auto word : region_words(o.region)) {
    main_form(word, Part::region);
    region += (region.empty() ? "" : "+") + word;
  }
  o.region = region;
  return o;
}

const Entry& find(std::string_view name) { return mechanisms().find(name); }

const Entry& find(std::string_view name, Part part) {
  const Entry* e = look_up(name, part);
  if (!e) throw Error(unknown(name, part));
  return *e;
}

Options options_of(std::string_view name, Options o) {
  const Entry& e = find(name);
  switch (e.part) {
    case Part::score:
      o.score = e.name;
      break;
    case Part::normalise:
      o.normalise = e.name;
      break;
    case Part::region:
      o.region = e.name;
      break;
    case Part::time:
      o.time = e.name;
      break;
    case Part::structure:
      o.structure = e.name;
      break;
    case Part::input:
      break;  // its preset says it
  }
  if (e.preset) e.preset(o);
  return o;
}

int64_t longest_memory(const Options& options) {
  const auto limit = find(options.score, Part::score).longest_memory;
  return limit ? options.*limit : std::numeric_limits<int64_t>::max();
}

bool draws(const Options& options) { return find(options.normalise, Part::normalise).draws; }

void add(const Entry& entry) {
  const bool is_made =
      (entry.part == Part::score && entry.make_score) || (entry.part == Part::normalise && entry.make_normalise) ||
      (entry.part == Part::region && entry.make_region) || (entry.part == Part::time && entry.make_time) ||
      (entry.part == Part::structure && entry.make_structure);
  expect(is_made, "mechanism '{}': its entry does not say how to make the part '{}'; set make_{}", entry.name,
         name_of(entry.part), name_of(entry.part));
  mechanisms().add(entry);
}

std::unique_ptr<Mechanism> make(const Scope& scope, const Options& options) {
  const auto reasons = refusals(options);
  expect(reasons.empty(), "attention: {}", fmt::join(reasons, "\n"));
  return make_at("", 0, scope, options);
}

std::unique_ptr<Mechanism> make(const Scope& scope, std::string_view name, const Options& base) {
  return make(scope, options_of(name, base));
}

}  // namespace heed::attend
