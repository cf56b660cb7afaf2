#include "heed/base/json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "heed/base/error.h"

namespace heed::file {

namespace {

using Library = nlohmann::ordered_json;

/// A value as text, written at once: a copy of it as the library's own value would need memory while it is destroyed.
class Writer {
 public:
  Writer(int indent, Library::error_handler_t not_utf8) : indent_(indent), not_utf8_(not_utf8) {}

  void write(const Json& json) {
    if (const auto* value = json.as<bool>()) return append(*value ? "true" : "false");
    if (const auto* value = json.as<int64_t>()) return append(std::to_string(*value));
    if (const auto* value = json.as<uint64_t>()) return append(std::to_string(*value));
    if (const auto* value = json.as<double>()) return number(*value);
    if (const auto* value = json.as<std::string>()) return string(*value);
    if (const auto* members = json.as<Json::Members>())
      return list('{', '}', *members, [&](const Json::Member& member) {
        string(member.first);
        append(indent_ < 0 ? ":" : ": ");
        write(member.second);
      });
    if (const auto* elements = json.as<Json::Elements>())
      return list('[', ']', *elements, [&](const Json& element) { write(element); });
    append("null");
  }
  std::string take() { return std::move(text_); }

 private:
  void append(std::string_view text) { text_ += text; }

  void number(double value) {
    if (!std::isfinite(value)) return append("null");
    char digits[64];  // as short as it can be read back
    text_.append(digits, nlohmann::detail::to_chars(std::begin(digits), std::end(digits), value));
  }

  void string(const std::string& text) {
    const bool plain =
        std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
    if (!plain) return append(Library(text).dump(-1, ' ', false, not_utf8_));
    text_ += '"';
    text_ += text;
    text_ += '"';
  }

  template <class Items, class Write>
  void list(char open, char close, const Items& items, const Write& write_item) {
    text_ += open;
    ++depth_;
    for (const auto& item : items) {
      if (&item != &items.front()) text_ += ',';
      new_line();
      write_item(item);
    }
    --depth_;
    if (!items.empty()) new_line();
    text_ += close;
  }
  void new_line() {
    if (indent_ < 0) return;
    text_ += '\n';
    text_.append(static_cast<size_t>(indent_) * depth_, ' ');
  }

  int indent_;
  Library::error_handler_t not_utf8_;
  size_t depth_ = 0;
  std::string text_;
};

std::string written(const Json& json, int indent, Library::error_handler_t not_utf8) {
  Writer writer(indent, not_utf8);
  writer.write(json);
  return writer.take();
}

/// Of members with the same name the last one counts, in the position of the first. Takes the time of a sort: a file
/// may have a hundred thousand of them.
void drop_repeated(Json::Members& members) {
  std::unordered_map<std::string_view, size_t> places;
  std::vector<size_t> firsts(members.size());
  bool repeated = false;
  for (size_t i = 0; i < members.size(); ++i) {
    const auto [found, is_new] = places.emplace(members[i].first, i);
    firsts[i] = found->second;
    repeated = repeated || !is_new;
  }
  if (!repeated) return;
  Json::Members kept;
  std::vector<size_t> now(members.size());
  for (size_t i = 0; i < members.size(); ++i)
    if (firsts[i] != i) {
      kept[now[firsts[i]]].second = std::move(members[i].second);
    } else {
      now[i] = kept.size();
      kept.push_back(std::move(members[i]));
    }
  members = std::move(kept);
}

/// Builds the value event by event, without a call for each level: brackets in a file cannot fill the stack.
class Builder : public nlohmann::json_sax<Library> {
 public:
  std::optional<Json> result;

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& text) override { return add(std::move(text)); }
  bool binary(Library::binary_t&) override { return false; }
  bool key(std::string& name) override {
    open_.back().key = std::move(name);
    return true;
  }
  bool start_object(size_t) override { return open(true); }
  bool end_object() override {
    drop_repeated(open_.back().members);
    return close(Json::object(std::move(open_.back().members)));
  }
  bool start_array(size_t) override { return open(false); }
  bool end_array() override { return close(Json::array(std::move(open_.back().elements))); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  struct Level {
    bool is_object;
    std::string key;  // of the member that comes next
    Json::Members members;
    Json::Elements elements;
  };

  bool open(bool is_object) {
    if (open_.size() == Json::kDeepest) return false;
    open_.push_back({is_object, {}, {}, {}});
    return true;
  }
  bool close(Json whole) {
    open_.pop_back();
    return add(std::move(whole));
  }
  bool add(Json value) {
    if (open_.empty())
      result = std::move(value);
    else if (open_.back().is_object)
      open_.back().members.emplace_back(std::move(open_.back().key), std::move(value));
    else
      open_.back().elements.push_back(std::move(value));
    return true;
  }

  std::vector<Level> open_;
};

}  // namespace

std::optional<Json> Json::parse(std::string_view text) {
  // The parser takes a zero byte for the end, and blocks of zeros are what a failing disk gives.
  if (text.find('\0') != text.npos) return {};
  Builder builder;
  if (!Library::sax_parse(text.begin(), text.end(), &builder)) return {};
  return std::move(builder.result);
}

std::string Json::text(int indent) const {
  try {
    return written(*this, indent, Library::error_handler_t::strict);
  } catch (const Library::exception&) {
    throw Error("JSON: a text in it is not valid UTF-8");
  }
}

std::string Json::line(int indent) const { return written(*this, indent, Library::error_handler_t::replace); }

const char* Json::kind() const {
  constexpr const char* kKinds[] = {"null", "boolean", "number", "number", "number", "string", "object", "array"};
  return kKinds[value_.index()];
}

const Json* Json::find(std::string_view name) const {
  const auto* members = as<Members>();
  if (!members) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(), [&](const Member& m) { return m.first == name; });
  return found == members->end() ? nullptr : &found->second;
}

Json& Json::operator[](std::string_view name) {
  if (const Json* found = find(name)) return const_cast<Json&>(*found);
  if (is_null()) value_ = Members();
  Members& members = std::get<Members>(value_);
  return members.emplace_back(name, Json()).second;
}

void Json::push_back(Json element) {
  if (is_null()) value_ = Elements();
  std::get<Elements>(value_).push_back(std::move(element));
}

}  // namespace heed::file
