#include "heed/base/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "heed/base/error.h"
#include "heed/base/json_text.h"
#include "heed/base/spelling.h"

namespace heed::file {

namespace {

constexpr size_t kColumns = 100;
constexpr const char* kNotSet = "not set";  // of a key on demand, where another recipe has it

template <class T>
std::string toml_value(const T& value) {
  if constexpr (std::is_same_v<T, std::optional<bool>>) {
    return value ? toml_value(*value) : toml_value(std::string(kAuto));
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    return toml_value(value.string());
  } else if constexpr (std::is_same_v<T, std::string>) {
    const std::optional<std::string> quoted = json_text(value);
    expect(quoted.has_value(), ErrorKind::recipe, "recipe: a text is not valid UTF-8");
    return *quoted;
  } else if constexpr (std::is_floating_point_v<T>) {
    std::string number = fmt::format("{}", value);  // the shortest that reads back as the same number
    // Without a point it would be a whole number.
    return std::isfinite(value) && number.find_first_of(".e") == std::string::npos ? number + ".0" : number;
  } else {
    return fmt::format("{}", value);
  }
}

template <class T>
std::string toml_value(const std::vector<T>& list) {
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (const T& each : list) texts.push_back(toml_value(each));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

/// The text as comments, at most kColumns wide.
std::string comment(std::string_view text) {
  std::string lines, line = "#";
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (line.size() > 1 && line.size() + 1 + word.size() > kColumns) {
      lines += line + "\n";
      line.resize(1);  // "#"
    }
    if (!word.empty()) line += fmt::format(" {}", word);
    if (end < text.size() && text[end] == '\n') {
      lines += line + "\n";
      line.resize(1);  // "#"
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return line.size() > 1 ? lines + line + "\n" : lines;
}

}  // namespace

void Fields::section(std::string name, std::string help) {
  for (Section& section : sections_)
    if (section.name == name) {
      section.help = std::move(help);
      return;
    }
  sections_.push_back({std::move(name), std::move(help)});
}

void Fields::add_target(std::string key, Target target, std::string help, Limit limit) {
  expect(!find(key), ErrorKind::bug, "recipe: the key '{}' was added twice", key);
  Field field{std::move(key), std::move(help), target, std::move(limit)};
  const std::string name = field.section();
  if (std::none_of(sections_.begin(), sections_.end(), [&](const Section& each) { return each.name == name; }))
    sections_.push_back({name, ""});
  fields_.push_back(std::move(field));
}

void Fields::on_demand(std::string section, Declare declare) {
  on_demand_.emplace_back(std::move(section), std::move(declare));
}

std::optional<std::string> Fields::declare(const std::string& key) {
  for (const auto& [section, declare] : on_demand_)
    if (key.starts_with(section + "."))
      if (std::optional<std::string> said = declare(*this, key)) return said;
  return {};
}

std::set<std::string> Fields::keys_on_demand() const {
  std::set<std::string> all;
  for (const Field& field : fields_)
    if (field.on_demand) all.insert(field.key);
  return all;
}

bool Fields::knows(const std::string& key) { return find(key) || declare(key) == ""; }

const Fields::Field* Fields::find(std::string_view key) const {
  for (const Field& field : fields_)
    if (field.key == key) return &field;
  return nullptr;
}

void Fields::former_key(std::string before, std::string key) {
  expect(find(key), ErrorKind::bug, "recipe: there is no key '{}' that '{}' could have become", key, before);
  former_keys_.push_back({std::move(before), std::move(key)});
}

std::string Fields::key_now(std::string_view key) const {
  for (const Renamed& each : former_keys_)
    if (each.before == key) return each.now;
  std::string spelled = british(std::string(key));
  return spelled != key && find(spelled) ? spelled : "";
}

void Fields::limit(std::string_view key, Limit limit) {
  for (Field& field : fields_)
    if (field.key == key) {
      field.limit = std::move(limit);
      return;
    }
  throw Error(ErrorKind::bug, fmt::format("recipe: there is no key '{}' that could be limited", key));
}

void Fields::pass_over(std::string section) {
  sections_.push_back({section, ""});
  passed_over_.insert(std::move(section));
}

std::set<std::string> Fields::keys() const {
  std::set<std::string> all;
  for (const Field& field : fields_) all.insert(field.key);
  return all;
}

std::vector<Fields::Section> Fields::sections_in_order() const {
  std::vector<Section> sections = sections_;
  std::stable_partition(sections.begin(), sections.end(), [](const Section& each) { return each.name.empty(); });
  return sections;
}

std::string Fields::value_text(const Field& field) {
  return std::visit([](const auto* v) { return toml_value(*v); }, field.target);
}

std::map<std::string, std::string> Fields::values() const {
  std::map<std::string, std::string> all;
  for (const Field& field : fields_) all.emplace(field.key, value_text(field));
  return all;
}

std::map<std::string, std::vector<std::string>> Fields::words() const {
  std::map<std::string, std::vector<std::string>> all;
  for (const Field& field : fields_) {
    std::vector<std::string>& words = all[field.key];
    words = field.limit.words;
    const bool is_auto = std::holds_alternative<std::optional<bool>*>(field.target);
    if (is_auto || std::holds_alternative<bool*>(field.target)) words.insert(words.end(), {"true", "false"});
    if (is_auto) words.emplace_back(kAuto);
  }
  return all;
}

std::set<std::string> Fields::copy(const Fields& from, const std::set<std::string>& keys) {
  std::set<std::string> copied;
  for (const Field& other : from.fields_)
    if (other.on_demand && keys.contains(other.key) && !find(other.key)) declare(other.key);
  for (const Field& field : fields_) {
    const Field* other = keys.contains(field.key) ? from.find(field.key) : nullptr;
    if (!other) continue;
    std::visit(
        [&](auto* value) {
          auto* const* source = std::get_if<decltype(value)>(&other->target);
          if (!source) return;
          *value = **source;
          copied.insert(field.key);
        },
        field.target);
  }
  return copied;
}

std::vector<FieldDifference> Fields::differences(const Fields& other) const {
  std::vector<FieldDifference> all;
  for (const Field& field : fields_) {
    const Field* there = other.find(field.key);
    if (!there && field.on_demand) all.push_back({field.key, value_text(field), kNotSet});
    if (!there) continue;
    const bool same = std::visit(
        [&](const auto* value) {
          using T = std::remove_const_t<std::remove_pointer_t<decltype(value)>>;
          T* const* second = std::get_if<T*>(&there->target);
          return second && *value == **second;
        },
        field.target);
    if (!same) all.push_back({field.key, value_text(field), value_text(*there)});
  }
  for (const Field& there : other.fields_)
    if (there.on_demand && !find(there.key)) all.push_back({there.key, kNotSet, value_text(there)});
  std::sort(all.begin(), all.end(), [](const FieldDifference& a, const FieldDifference& b) { return a.key < b.key; });
  return all;
}

std::string Fields::text() const {
  std::string all;
  for (const Section& section : sections_in_order()) {
    if (!all.empty()) all += "\n";
    all += comment(section.help);
    if (!section.name.empty()) all += fmt::format("[{}]\n", section.name);
    for (const Field& field : fields_) {
      if (field.section() != section.name) continue;
      const std::string limit = field.limit.text();
      all += comment(field.help + (limit.empty() ? "" : field.help.empty() ? limit : fmt::format(" ({})", limit)));
      all += fmt::format("{} = {}\n", field.name(), value_text(field));
    }
  }
  return all;
}

std::string Fields::short_text(const std::set<std::string>& left_out) const {
  std::string all;
  for (const Section& section : sections_in_order()) {
    std::string keys;
    for (const Field& field : fields_)
      if (field.section() == section.name && !left_out.count(field.key))
        keys += fmt::format("{} = {}\n", field.name(), value_text(field));
    if (keys.empty()) continue;
    if (!all.empty()) all += "\n";
    if (!section.name.empty()) all += fmt::format("[{}]\n", section.name);
    all += keys;
  }
  return all;
}

}  // namespace heed::file
