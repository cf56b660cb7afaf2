#include "heed/attend/all.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "heed/attend/region_words.h"
#include "heed/tensor/error.h"
#include "heed/tensor/nearest.h"

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

const std::vector<const Entry*>& all() {
#define HEED_ADDRESS(name) &name##_entry,
  static const std::vector<const Entry*> entries = {HEED_MECHANISMS(HEED_ADDRESS)};
#undef HEED_ADDRESS
  return entries;
}

std::vector<std::string> words(const char* text) {
  std::istringstream in(text);
  std::vector<std::string> found;
  for (std::string word; in >> word;) found.push_back(word);
  return found;
}

namespace {

const Entry* look_up(std::string_view name) {
  for (const Entry* e : all()) {
    if (name == e->name) return e;
    for (const auto& alias : words(e->aliases))
      if (name == alias) return e;
  }
  return nullptr;
}

std::string unknown(std::string_view name, const char* what, const Part* part) {
  std::vector<std::string> names;
  for (const Entry* e : all()) {
    if (part && e->part != *part) continue;
    names.emplace_back(e->name);
    for (const auto& alias : words(e->aliases)) names.push_back(alias);
  }
  return fmt::format("there is no {} '{}'; did you mean '{}'? There are: {}", what, name, nearest(name, names),
                     fmt::join(names, ", "));
}

class Refusals {
 public:
  explicit Refusals(const Options& o) : o_(o) {}

  std::vector<std::string> all_of_them() {
    names();
    if (!reasons_.empty()) return reasons_;  // without the parts nothing more can be said
    limits();
    if (!reasons_.empty()) return reasons_;
    widths();
    numbers();
    if (!reasons_.empty()) return reasons_;
    const bool own_score = parts_.front()->own_score;  // the structure is named first
    for (const Entry* e : parts_)
      if (e->refuses && !(own_score && e->part == Part::score)) add(e->refuses(one_head()));
    return reasons_;
  }

 private:
  void add(std::string reason) {
    if (!reason.empty()) reasons_.push_back(std::move(reason));
  }
  template <class... Args>
  void need(bool condition, fmt::format_string<Args...> text, Args&&... args) {
    if (!condition) add(fmt::format(text, std::forward<Args>(args)...));
  }

  void name(std::string_view word, Part part) {
    const Entry* e = look_up(word);
    if (e && e->part == part)
      parts_.push_back(e);
    else
      add(unknown(word, name_of(part), &part));
  }

  void names() {
    name(o_.structure, Part::structure);
    name(o_.score, Part::score);
    name(o_.normalise, Part::normalise);
    name(o_.time, Part::time);
    for (const auto& word : region_words(o_.region)) name(word, Part::region);
    static const std::vector<std::string> inputs = {"external", "self_attention", "cross_attention", "learned_query"};
    need(std::find(inputs.begin(), inputs.end(), o_.input) != inputs.end(),
         "there is no input '{}'; did you mean '{}'? There are: {}", o_.input, nearest(o_.input, inputs),
         fmt::join(inputs, ", "));
    static const std::vector<std::string> positions = {"none", "alibi", "relative", "rotary"};
    need(std::find(positions.begin(), positions.end(), o_.position) != positions.end(),
         "there is no position '{}'; did you mean '{}'? There are: {}", o_.position, nearest(o_.position, positions),
         fmt::join(positions, ", "));
  }

  void widths() {
    need(o_.key_width > 0, "key_width must be above 0, not {}", o_.key_width);
    for (const auto& [what, width] : {std::pair{"query_width", o_.query_width},
                                      {"value_width", o_.value_width},
                                      {"hidden", o_.hidden},
                                      {"width", o_.width},
                                      {"output_width", o_.output_width}})
      need(width >= 0, "{} must not be negative, it is {}", what, width);
    need(o_.heads > 0, "heads must be above 0, not {}", o_.heads);
    need(o_.kv_heads >= 0, "kv_heads must not be negative, it is {}", o_.kv_heads);
    if (!reasons_.empty()) return;
    const int64_t shared = kv_heads();
    need(o_.heads % shared == 0, "kv_heads = {} must divide heads = {}", shared, o_.heads);
    const int64_t query = query_width(), value = o_.value_width > 0 ? o_.value_width : o_.key_width;
    if (o_.project) {
      need(width() % o_.heads == 0, "width = {} cannot be shared by {} heads", width(), o_.heads);
    } else {
      need(query % o_.heads == 0, "query_width = {} cannot be shared by {} heads", query, o_.heads);
      need(o_.key_width % shared == 0, "key_width = {} cannot be shared by {} heads", o_.key_width, shared);
      need(value % shared == 0, "value_width = {} cannot be shared by {} heads", value, shared);
    }
    need(!o_.project_output || o_.project, "project_output needs project");
    // The same rows; where heads share keys, the memory has fewer heads of them.
    const int64_t same = o_.project ? o_.key_width : o_.key_width / shared * o_.heads;
    if (o_.input == "self_attention")
      need(query == same, "self_attention: queries and keys are the same rows, but query_width is {} and key_width {}",
           query, o_.key_width);
  }

  /// What the loop of heed/kernels can count: widths to 2^20, keys to 2^30.
  void limits() {
    static const std::vector<std::string_view> lengths = {"window", "sinks", "samples", "reach", "max_length"};
    each_option(o_, [&](std::string_view name, const auto& value) {
      using T = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<T, float>) {
        need(std::isfinite(value), "{} must be a finite number, not {}", name, value);
      } else if constexpr (std::is_same_v<T, int64_t>) {
        const int bits = std::find(lengths.begin(), lengths.end(), name) != lengths.end() ? 30 : 20;
        need(value <= int64_t{1} << bits, "{} must be at most 2^{}, not {}", name, bits, value);
      }
    });
  }

  void numbers() {
    need(o_.dropout >= 0.0f && o_.dropout < 1.0f, "dropout must be from 0 to less than 1, not {}", o_.dropout);
    need(o_.softcap >= 0.0f, "softcap must be 0 (off) or more, not {}", o_.softcap);
    need(o_.queries >= 1, "queries must be at least 1, not {}", o_.queries);
    need(o_.position != "relative" || o_.reach >= 1, "reach must be at least 1, not {}", o_.reach);
    need(!o_.divide_by_visible || o_.normalise == "relu" || o_.normalise == "sigmoid" || o_.normalise == "identity",
         "divide_by_visible is for relu, sigmoid and identity; {} has its own way to sum up", o_.normalise);
    const auto regions = region_words(o_.region);
    need(!o_.learned_sink || std::find(regions.begin(), regions.end(), "sinks") != regions.end(),
         "learned_sink is for region = \"sinks\", alone or with others; there is none in \"{}\"", o_.region);
    need(o_.position == "none" || o_.time != "static",
         "position = \"{}\" measures from the query's place, and a static query has none", o_.position);
    if (o_.position == "rotary") rotary();
  }

  /// What rotary positions can turn.
  void rotary() {
    need(parts_.front()->own_score == false && o_.structure != "feed_forward" && o_.input != "learned_query",
         "position = \"rotary\" turns a query by its place, and {} has no query that stands anywhere",
         o_.input == "learned_query" ? "input = \"learned_query\"" : fmt::format("structure = \"{}\"", o_.structure));
    std::vector<std::string> able;
    for (const Entry* e : all())
      if (e->inner_product) able.emplace_back(e->name);
    const bool turns = find(o_.score, Part::score).inner_product;
    need(turns, "position = \"rotary\" turns q and k before they are multiplied, and {} does not multiply them; {} do",
         o_.score, fmt::join(able, ", "));
    const Options head = one_head();
    const int64_t turned = o_.score == "projected" && o_.hidden > 0 ? o_.hidden : head.key_width;
    need(!turns || turned % 2 == 0,
         "position = \"rotary\" turns the columns of a head two by two, so a head of width {} does not go; it must be "
         "even",
         turned);
  }

  int64_t kv_heads() const { return o_.kv_heads > 0 ? o_.kv_heads : o_.heads; }
  int64_t query_width() const {
    if (o_.time == "static") return 2 * o_.key_width;
    return o_.query_width > 0 ? o_.query_width : o_.key_width;
  }
  int64_t width() const { return o_.width > 0 ? o_.width : query_width(); }

  /// What the parts of one head will see.
  Options one_head() const {
    Options head = o_;
    head.query_width = (o_.project ? width() : query_width()) / o_.heads;
    head.key_width = o_.project ? width() / o_.heads : o_.key_width / kv_heads();
    return head;
  }

  const Options& o_;
  std::vector<const Entry*> parts_;
  std::vector<std::string> reasons_;
};

}  // namespace

Options canonical(Options o) {
  auto main_form = [](std::string& word) {
    if (const Entry* e = look_up(word)) word = e->name;
  };
  for (std::string* word : {&o.structure, &o.score, &o.normalise, &o.time}) main_form(*word);
  std::string region;
  for (auto word : region_words(o.region)) {
    main_form(word);
    region += (region.empty() ? "" : "+") + word;
  }
  o.region = region;
  return o;
}

const Entry& find(std::string_view name) {
  const Entry* e = look_up(name);
  if (!e) throw Error(unknown(name, "mechanism", nullptr));
  return *e;
}

const Entry& find(std::string_view name, Part part) {
  const Entry* e = look_up(name);
  if (!e || e->part != part) throw Error(unknown(name, name_of(part), &part));
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

std::vector<std::string> refusals(const Options& options) {
  const Options o = canonical(options);
  return Refusals(o).all_of_them();
}

std::vector<std::string> unread(const Options& options, const std::vector<std::string>& given) {
  const Options o = canonical(options);
  // What every attention has, whatever its parts.
  std::vector<std::string> read = words(
      "structure input score normalise region time query_width key_width value_width heads kv_heads project "
      "project_output width output_width softcap position dropout");
  const auto also = [&](std::string_view name, Part part) {
    const Entry* e = look_up(name);
    if (!e || e->part != part) return;  // refusals() says so
    for (auto& option : words(e->options)) read.push_back(std::move(option));
  };
  also(o.structure, Part::structure);
  also(o.score, Part::score);
  also(o.normalise, Part::normalise);
  also(o.time, Part::time);
  for (const auto& word : region_words(o.region)) also(word, Part::region);
  if (o.input == "learned_query") also("learned_query", Part::input);
  if (o.position == "relative") read.emplace_back("reach");

  const auto has = [](const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<std::string> changed;
  const Options plain;
#define HEED_CHANGED(type, name, value, meaning) \
  if (o.name != plain.name) changed.emplace_back(#name);
  HEED_OPTIONS(HEED_CHANGED)
#undef HEED_CHANGED
  std::vector<std::string> sentences;
  for (const auto& name : given) {
    if (!has(changed, name) || has(read, name)) continue;
    std::vector<std::string> readers;
    for (const Entry* e : all())
      if (has(words(e->options), name)) readers.emplace_back(e->name);
    if (name == "reach") readers.emplace_back("position = \"relative\"");
    sentences.push_back(
        fmt::format("{} is an option of {}, and there is none of that here", name, fmt::join(readers, ", ")));
  }
  return sentences;
}

std::unique_ptr<Mechanism> make(const Scope& scope, const Options& options) {
  const auto reasons = refusals(options);
  expect(reasons.empty(), "attention: {}", fmt::join(reasons, "\n"));
  const Options o = canonical(options);
  return find(o.structure, Part::structure).make_structure(scope, o);
}

}  // namespace heed::attend
