// From TOML to options: every mistake with its line and what was probably meant.
#include <fmt/format.h>

// A text can be wrong in ways that toml++ considers impossible, such as a '[' at the end of a line: it asserts that
// this never happens, or lets the compiler assume so. Without both it reports the error a moment later.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
// Numbers by from_chars: a stream takes a lack of memory for a number that is none.
#define TOML_FLOAT_CHARCONV 1
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/base/fields.h"
#include "heed/base/json_text.h"
#include "heed/base/nearest.h"
#include "heed/base/spelling.h"
#include "heed/base/toml_limits.h"

namespace heed::file {

namespace {

/// The given value, for a message.
std::string description(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return fmt::format("the text '{}'", node.as_string()->get());
    case toml::node_type::integer:
      return fmt::format("{}", node.as_integer()->get());
    case toml::node_type::floating_point:
      return fmt::format("the real number {}", node.as_floating_point()->get());
    case toml::node_type::boolean:
      return node.as_boolean()->get() ? "true" : "false";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::table:
      return "a section";
    default:
      return "a date or a time";
  }
}

std::string wrong_kind(std::string_view wanted, const toml::node& node, const Limit& limit) {
  const std::string range = limit.text();
  return fmt::format("must be {}{}, not {}", wanted, range.empty() ? "" : fmt::format(" ({})", range),
                     description(node));
}

// fill(): sets `value` from a node and says what is wrong with it, or nothing.

std::string fill(bool& value, const toml::node& node, const Limit& limit) {
  if (!node.is_boolean()) return wrong_kind("true or false", node, limit);
  value = node.as_boolean()->get();
  return "";
}

std::string fill(std::optional<bool>& value, const toml::node& node, const Limit& limit) {
  const bool is_auto = node.is_string() && node.as_string()->get() == kAuto;
  if (!node.is_boolean() && !is_auto) return wrong_kind(fmt::format("true, false or \"{}\"", kAuto), node, limit);
  value = is_auto ? std::optional<bool>() : node.as_boolean()->get();
  return "";
}

template <std::integral T>
std::string fill(T& value, const toml::node& node, const Limit& limit) {
  if (!node.is_integer()) return wrong_kind("a whole number", node, limit);
  const int64_t number = node.as_integer()->get();
  if (std::string problem = problem_of(number, limit); !problem.empty()) return problem;
  if (!std::in_range<T>(number))
    return fmt::format("must be from {} to {}, not {}", std::numeric_limits<T>::min(),
                       std::min<uint64_t>(std::numeric_limits<T>::max(), INT64_MAX), number);
  value = static_cast<T>(number);
  return "";
}

template <std::floating_point T>
std::string fill(T& value, const toml::node& node, const Limit& limit) {
  if (!node.is_number()) return wrong_kind("a number", node, limit);
  const double number = *node.value<double>();
  if (std::string problem = problem_of(number, limit); !problem.empty()) return problem;
  if (std::abs(number) > double{std::numeric_limits<T>::max()})
    return fmt::format("must be at most {}, not {}", std::numeric_limits<T>::max(), number);
  value = static_cast<T>(number);
  return "";
}

std::string fill(std::string& value, const toml::node& node, const Limit& limit) {
  if (!node.is_string()) return wrong_kind("a text in quotes", node, limit);
  if (std::string problem = problem_of(node.as_string()->get(), limit); !problem.empty()) return problem;
  value = node.as_string()->get();
  return "";
}

std::string fill(std::filesystem::path& value, const toml::node& node, const Limit& limit) {
  std::string text = value.string();
  std::string problem = fill(text, node, limit);
  value = text;
  return problem;
}

template <class T>
std::string fill(std::vector<T>& value, const toml::node& node, const Limit& limit) {
  if (!node.is_array()) return wrong_kind("a list in brackets", node, limit);
  std::vector<T> list;
  for (const toml::node& each : *node.as_array()) {
    T element{};
    if (std::string problem = fill(element, each, limit); !problem.empty())
      return fmt::format("[{}] {}", list.size() + 1, problem);
    list.push_back(std::move(element));
  }
  if (limit.needed && list.empty()) return "must not be empty";
  value = std::move(list);
  return "";
}

/// Throws toml::parse_error, and before anything is parsed, TomlExcess.
toml::table parsed(std::string_view text, std::string_view file = "") {
  if (std::optional<TomlExcess> excess = excess_of(text)) throw std::move(*excess);
  return toml::parse(text, file);
}

/// A name for a message, cut where nobody reads on.
std::string shortened(const std::string& name) {
  constexpr size_t kLongest = 120;
  return name.size() <= kLongest ? name : name.substr(0, kLongest) + "...";
}

/// "a.b" and "c" are "a.b.c".
std::string joined(std::string_view section, std::string_view name) {
  return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
}

}  // namespace

/// Goes through one recipe and collects the mistakes.
class RecipeReader {
 public:
  RecipeReader(Fields& fields, std::string_view file, std::vector<std::string>* notes)
      : fields_(fields), file_(file), notes_(notes) {
    // Of "model.encoder" also "model" may be opened.
    for (const auto& section : fields.sections_)
      for (size_t end = 0; end != std::string::npos && !section.name.empty();) {
        end = section.name.find('.', end + 1);
        sections_.insert(section.name.substr(0, end));
      }
  }

  void file(std::string_view text) {
    try {
      table(parsed(text, file_), "");
    } catch (const toml::parse_error& error) {
      complain(error.source(), std::string(error.description()));
      readable_ = false;
    } catch (const TomlExcess& excess) {
      complain(fmt::format("{}:{}", file_, excess.line), excess.what + ": this is no recipe");
      readable_ = false;
    }
  }

  void override_by(const std::string& text) {
    const size_t equals = text.find('=');
    const std::string where = "--set " + text;
    if (equals == std::string::npos || equals == 0) return complain(where, "it must be section.name=value");
    const std::string key = text.substr(0, equals), value = text.substr(equals + 1);
    const Fields::Field* field = find(key);
    if (!field && sections_.count(key))
      return complain(where, fmt::format("'{}' is a section: name one of its keys", key));
    if (!field) return complain(where, [&] { return unknown_key(key); });
    const toml::value<std::string> as_text(value);
    const bool is_text = std::holds_alternative<std::string*>(field->target) ||
                         std::holds_alternative<std::filesystem::path*>(field->target);
    if (is_text && !value.starts_with('"')) {
      if (!json_text(value)) return complain(where, fmt::format("{} must be valid UTF-8", key));
      return set(*field, as_text, where);
    }
    try {
      const toml::table table = parsed("value = " + value);
      if (table.size() != 1) return complain(where, fmt::format("{} must be one value", key));
      set(*field, table.begin()->second, where);
    } catch (const toml::parse_error&) {
      set(*field, as_text, where);
    } catch (const TomlExcess& excess) {
      complain("--set " + shortened(text), excess.what);
    }
  }

  void missing() {
    if (!readable_) return;  // the rest of the file may have it
    for (const Fields::Field& field : fields_.fields_) {
      if (given_.count(field.key)) continue;
      if (const std::string problem = problem_of(field.target, field.limit); !problem.empty())
        complain(std::string(file_),
                 fmt::format("{} is missing ({})", field.key, field.help.empty() ? field.limit.text() : field.help));
    }
  }

  /// One a line; the first ones, and how many more there are.
  std::string mistakes() const {
    return count_ <= kMostMistakes ? mistakes_
                                   : fmt::format("{}\n{}: {} more mistakes", mistakes_, file_, count_ - kMostMistakes);
  }
  const std::set<std::string>& given() const { return given_; }

 private:
  static constexpr int64_t kMostMistakes = 50;  // that are told

  /// What the mistake is takes time to find out, so it is asked only where it is told.
  template <std::invocable What>
  void complain(const std::string& where, const What& what) {
    if (++count_ > kMostMistakes) return;
    mistakes_ += fmt::format("{}{}: {}", mistakes_.empty() ? "" : "\n", where, what());
  }
  void complain(const std::string& where, const std::string& what) {
    complain(where, [&] { return what; });
  }
  template <std::invocable What>
  void complain(const toml::source_region& at, const What& what) {
    complain(fmt::format("{}:{}", file_, at.begin.line), what);
  }
  void complain(const toml::source_region& at, const std::string& what) {
    complain(fmt::format("{}:{}", file_, at.begin.line), what);
  }

  void table(const toml::table& from, const std::string& section) {
    // A table gives its keys in the order of the alphabet; a reader goes from top to bottom.
    std::vector<std::pair<const toml::key*, const toml::node*>> entries;
    for (const auto& [key, node] : from) entries.emplace_back(&key, &node);
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      return a.first->source().begin.line < b.first->source().begin.line;
    });
    for (const auto& [name, node] : entries) {
      const std::string key = joined(section, name->str());
      if (const Fields::Field* field = find(key)) {
        const std::string where = fmt::format("{}:{}", file_, name->source().begin.line);
        if (given_.count(field->key))
          complain(where, fmt::format("{} is given twice: '{}' is another name of it", field->key, key));
        set(*field, *node, where);
      } else if (node->is_table() && (sections_.count(key) || is_on_demand(key))) {
        table(*node->as_table(), key);
      } else if (fields_.passed_over_.count(section)) {
        continue;
      } else if (node->is_table()) {
        complain(name->source(), [&] { return unknown_section(key); });
      } else if (sections_.count(key)) {
        complain(name->source(), fmt::format("'{}' is a section: write [{}] above its keys", key, key));
      } else {
        complain(name->source(), [&] { return unknown_key(key); });
      }
    }
  }

  /// The field of this key, also under a name that it had before.
  const Fields::Field* find(const std::string& key) {
    if (const Fields::Field* field = fields_.find(key)) return field;
    for (const std::string& spelled : {key, british(key)})
      if (fields_.declare(spelled) == "") return fields_.find(spelled);
    const std::string now = fields_.key_now(key);
    if (now.empty()) return nullptr;
    if (british(key) != now) note(key, now);
    return fields_.find(now);
  }

  /// Whether keys in this section may exist once they are named.
  bool is_on_demand(const std::string& section) const {
    return std::any_of(fields_.on_demand_.begin(), fields_.on_demand_.end(),
                       [&](const auto& each) { return section.starts_with(each.first + "."); });
  }

  void note(std::string_view before, std::string_view now) {
    if (!notes_) return;
    std::string text = fmt::format("'{}' is now called '{}'", before, now);
    if (std::find(notes_->begin(), notes_->end(), text) == notes_->end()) notes_->push_back(std::move(text));
  }

  void set(const Fields::Field& field, const toml::node& node, const std::string& where) {
    given_.insert(field.key);
    if (!node.is_string()) return fill_field(field, node, where);
    std::string word = node.as_string()->get();
    if (const std::string* now = field.limit.word_now(word)) {
      note(word, *now);
      word = *now;
    }
    fill_field(field, toml::value<std::string>(word), where);
  }

  void fill_field(const Fields::Field& field, const toml::node& node, const std::string& where) {
    const std::string problem = std::visit([&](auto* value) { return fill(*value, node, field.limit); }, field.target);
    if (!problem.empty()) complain(where, fmt::format("{} {}", field.key, problem));
  }

  std::string unknown_section(const std::string& key) const {
    const std::vector<std::string> all(sections_.begin(), sections_.end());
    const std::string guess = nearest(key, all);
    return fmt::format("unknown section [{}]{}", shortened(key),
                       guess.empty() ? "" : fmt::format("; did you mean [{}]?", guess));
  }

  std::string unknown_key(const std::string& key) const {
    if (std::optional<std::string> why = fields_.declare(key); why && !why->empty()) return *why;
    const std::string name = key.substr(key.rfind('.') + 1);
    const std::string section = name == key ? "" : key.substr(0, key.rfind('.'));
    std::vector<std::string> here, names, all;
    std::string guess;
    for (const Fields::Field& field : fields_.fields_) {
      all.push_back(field.key);
      names.push_back(field.name());
      if (field.section() == section || field.section().starts_with(section + ".")) here.push_back(field.key);
      if (field.name() == name && guess.empty()) guess = field.key;  // right, but elsewhere
    }
    if (guess.empty() && !here.empty()) guess = nearest(key, here);
    // Without a section, or with one that does not exist: a key with nearly that name, wherever it is.
    if (guess.empty() && !all.empty())
      guess = all[static_cast<size_t>(std::find(names.begin(), names.end(), nearest(name, names)) - names.begin())];
    return fmt::format("unknown key '{}'{}", shortened(key),
                       guess.empty() ? "" : fmt::format("; did you mean '{}'?", guess));
  }

  Fields& fields_;
  std::string_view file_;
  std::vector<std::string>* notes_;  // of former words; may be null
  std::set<std::string> sections_, given_;
  std::string mistakes_;
  int64_t count_ = 0;  // of mistakes
  bool readable_ = true;
};

std::string peek(std::string_view toml, std::string_view key, std::span<const std::string> overrides) {
  std::string found;
  try {
    found = parsed(toml).at_path(key).value_or(std::string());
  } catch (const toml::parse_error&) {  // parse() tells where
  } catch (const TomlExcess&) {         // so here
  }
  for (const std::string& each : overrides)
    if (each.starts_with(key) && each.substr(key.size()).starts_with('=')) {
      found = each.substr(key.size() + 1);
      if (found.size() > 1 && found.starts_with('"') && found.ends_with('"')) found = found.substr(1, found.size() - 2);
    }
  return found;
}

std::optional<int64_t> peek_integer(std::string_view toml, std::string_view key) {
  try {
    return parsed(toml).at_path(key).value_exact<int64_t>();
  } catch (const toml::parse_error&) {
  } catch (const TomlExcess&) {
  }
  return {};
}

namespace {

/// Where a place in a text is, in bytes. Columns count characters.
size_t offset_of(std::string_view text, const toml::source_position& place) {
  size_t at = 0;
  for (toml::source_index line = 1; line < place.line && at < text.size(); ++line)
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  for (toml::source_index column = 1; column < place.column && at < text.size(); ++column) do
      ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

}  // namespace

std::string with_text(std::string_view toml, std::string_view key, std::string_view value) {
  const std::optional<std::string> quoted = json_text(std::string(value));
  expect(quoted.has_value(), ErrorKind::recipe, "recipe: a text is not valid UTF-8");
  std::string text(toml);
  try {
    const toml::table table = parsed(toml);
    const toml::node* node = table.at_path(key).node();
    if (node && node->is_string()) {
      const size_t begin = offset_of(toml, node->source().begin), end = offset_of(toml, node->source().end);
      if (begin < end) text.replace(begin, end - begin, *quoted);
    }
  } catch (const toml::parse_error&) {  // told below
  } catch (const TomlExcess&) {
  }
  expect(peek(text, key) == value, ErrorKind::file, "the value of {} cannot be changed: it is not written as heed does",
         key);
  return text;
}

std::set<std::string> Fields::parse(std::string_view toml, std::string_view file,
                                    std::span<const std::string> overrides, std::vector<std::string>* notes) {
  RecipeReader reader(*this, file, notes);
  reader.file(toml);
  for (const std::string& each : overrides) reader.override_by(each);
  reader.missing();
  if (const std::string mistakes = reader.mistakes(); !mistakes.empty()) throw Error(ErrorKind::recipe, mistakes);
  return reader.given();
}

std::set<std::string> Fields::read(const std::filesystem::path& path, std::span<const std::string> overrides) {
  return parse(read_text(path, kLargestFields), path.string(), overrides);
}

}  // namespace heed::file
