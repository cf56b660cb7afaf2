// Why options do not define a valid attention, and which of them have no effect.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>

#include "heed/attend/all.h"
#include "heed/attend/choices.h"
#include "heed/base/nearest.h"

namespace heed::attend {

namespace {

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool reads(const Entry& entry, std::string_view option) { return has(words(entry.options), option); }

/// The names of the entries that read an option.
std::vector<std::string> readers_of(std::string_view option) {
  std::vector<std::string> names;
  for (const Entry* e : all())
    if (reads(*e, option)) names.emplace_back(e->name);
  return names;
}

class Refusals {
 public:
  explicit Refusals(const Options& o) : o_(o) {}

  std::vector<std::string> all_of_them() {
    names();
    if (!reasons_.empty()) return reasons_;  // without the parts nothing more can be checked
    limits();
    if (!reasons_.empty()) return reasons_;
    widths();
    numbers();
    if (!reasons_.empty()) return reasons_;
    for (const Entry* e : parts_.all())
      if (e->refuses && !(parts_.structure->own_score && e->part == Part::score)) add(e->refuses(one_head(), parts_));
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

  void names() {
    reasons_ = unknown_words(o_, parts_);
    for (size_t i = 0; i < parts_.regions.size(); ++i)
      need(std::count(parts_.regions.begin(), parts_.regions.begin() + static_cast<int64_t>(i), parts_.regions[i]) != 1,
           "region = \"{}\" names {} twice", o_.region, parts_.regions[i]->name);
    if (!has_word(kPositions, o_.position)) add(unknown_name("position", o_.position, words_of(kPositions)));
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
    // The same rows; where heads share keys, the memory has fewer heads of them.
    const int64_t same = o_.project ? o_.key_width : o_.key_width / shared * o_.heads;
    if (parts_.input->same_rows && query == o_.key_width)
      need(query == same,
           "{}: kv_heads = {} of heads = {}: each head of the keys is as wide as one of the queries, so query_width "
           "must "
           "be {} for key_width = {}, not {}; or project = true, which makes both from the same rows",
           parts_.input->name, shared, o_.heads, same, o_.key_width, query);
    else if (parts_.input->same_rows)
      need(query == same, "{}: queries and keys are the same rows, but query_width is {} and key_width {}",
           parts_.input->name, query, o_.key_width);
  }

  /// Limits of the loop in heed/kernels: widths up to 2^20, keys up to 2^30.
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
    const Position position = value_of(kPositions, o_.position);
    need(o_.dropout >= 0.0f && o_.dropout < 1.0f, "dropout must be from 0 to less than 1, not {}", o_.dropout);
    need(o_.softcap >= 0.0f, "softcap must be 0 (off) or more, not {}", o_.softcap);
    need(!o_.strict || !parts_.has_region(not_self_entry) || !parts_.has_region(causal_entry),
         "region: {} has no effect beside {} with strict = true, which leaves a query's own key out already",
         not_self_entry.name, causal_entry.name);
    need(o_.queries >= 1, "queries must be at least 1, not {}", o_.queries);
    need(position != Position::relative || o_.reach >= 1, "reach must be at least 1, not {}", o_.reach);
    need(!o_.divide_by_visible || reads(*parts_.normalise, "divide_by_visible"),
         "divide_by_visible is for {}, not for {}", listed(readers_of("divide_by_visible")), parts_.normalise->name);
    need(!o_.learned_sink || std::any_of(parts_.regions.begin(), parts_.regions.end(),
                                         [](const Entry* e) { return reads(*e, "learned_sink"); }),
         "learned_sink needs region = \"{}\", alone or with others, not \"{}\"", listed(readers_of("learned_sink")),
         o_.region);
    need(position == Position::none || parts_.time->keys_in_query == 0,
         "position = \"{}\" needs the position of the query, and a {} query has none", o_.position, parts_.time->name);
    if (position == Position::rotary) rotary();
  }

  /// What rotary positions can rotate.
  void rotary() {
    const bool learned = parts_.input->own_queries;
    need(!parts_.structure->own_score && !parts_.structure->own_queries && !learned,
         "position = \"rotary\" rotates a query by its position, and {} = \"{}\" has no query with a position",
         learned ? "input" : "structure", learned ? o_.input : o_.structure);
    std::vector<std::string> able;
    for (const Entry* e : all())
      if (e->inner_product) able.emplace_back(e->name);
    const bool turns = parts_.score->inner_product;
    need(turns,
         "position = \"rotary\" rotates q and k before they are multiplied, and {} does not multiply them; {} do",
         o_.score, fmt::join(able, ", "));
    const int64_t turned = parts_.score->hidden_wide && o_.hidden > 0 ? o_.hidden : one_head().key_width;
    need(!turns || turned % 2 == 0,
         "position = \"rotary\" rotates pairs of columns, so the width of a head must be even, not {}", turned);
  }

  int64_t kv_heads() const { return o_.kv_heads > 0 ? o_.kv_heads : o_.heads; }
  int64_t query_width() const {
    if (parts_.time->keys_in_query > 0) return parts_.time->keys_in_query * o_.key_width;
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
  Parts parts_;
  std::vector<std::string> reasons_;
};

/// An option that says more about another one, without which it has no effect.
struct Dependent {
  std::string_view option, needs;
};
std::vector<Dependent> idle_without(const Options& o) {
  std::vector<Dependent> idle;
  if (!o.project && !o.project_output) idle.push_back({"project_bias", "project = true"});
  if (!o.project) idle.push_back({"width", "project = true"});
  if (!o.project_output) idle.push_back({"output_width", "project_output = true"});
  if (o.heads == 1) idle.push_back({"kv_heads", "heads above 1"});
  if (o.position != "rotary")
    for (const char* option : {"rotary_base", "rotary_halves"}) idle.push_back({option, "position = \"rotary\""});
  if (o.entropy_weight == 0.0f)
    for (const char* option : {"entropy_schedule", "entropy_steps"}) idle.push_back({option, "entropy_weight above 0"});
  return idle;
}

}  // namespace

std::vector<std::string> refusals(const Options& options) {
  const Options o = canonical(options);
  return Refusals(o).all_of_them();
}

std::vector<std::string> unread(const Options& options, const std::vector<std::string>& given) {
  const Options o = canonical(options);
  // What every attention has, whatever its parts.
  std::vector<std::string> read = words(
      "structure input score normalise region time query_width key_width value_width heads kv_heads project "
      "project_output project_bias width output_width softcap position rotary_base rotary_halves dropout");
  std::vector<Dependent> idle = idle_without(o);
  Parts parts;
  unknown_words(o, parts);  // refusals() says so
  bool hidden_elsewhere = false;
  for (const Entry* e : parts.all())
    if (e)
      for (auto& option : words(e->options)) {
        hidden_elsewhere |= option == "hidden" && e->part != Part::score && e->part != Part::structure;
        read.push_back(std::move(option));
      }
  // In the linear form a key is weighed without a hidden layer.
  if (parts.score == &self_scored_entry && o.form == "linear" && !hidden_elsewhere)
    idle.push_back({"hidden", "form = \"vector\""});
  if (o.position == "relative") read.emplace_back("reach");

  std::vector<std::string> changed;
  const Options plain;
#define HEED_CHANGED(type, name, value, meaning) \
  if (o.name != plain.name) changed.emplace_back(#name);
  HEED_OPTIONS(HEED_CHANGED)
#undef HEED_CHANGED
  std::vector<std::string> sentences;
  for (const auto& name : given) {
    if (!has(changed, name)) continue;
    if (const auto found = std::find_if(idle.begin(), idle.end(), [&](const Dependent& d) { return d.option == name; });
        found != idle.end() && has(read, name)) {
      sentences.push_back(fmt::format("{} has no effect without {}", name, found->needs));
      continue;
    }
    if (has(read, name)) continue;
    std::vector<std::string> readers = readers_of(name);
    if (name == "reach") readers.emplace_back("position = \"relative\"");
    sentences.push_back(
        fmt::format("{} is an option of {}, which this attention does not have", name, fmt::join(readers, ", ")));
  }
  return sentences;
}

}  // namespace heed::attend
