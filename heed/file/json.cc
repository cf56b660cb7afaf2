#include "heed/file/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "heed/tensor/error.h"

namespace heed::file {

namespace {

using Library = nlohmann::ordered_json;

Library to_library(const Json& json) {
  if (const auto* value = json.as<bool>()) return *value;
  if (const auto* value = json.as<int64_t>()) return *value;
  if (const auto* value = json.as<uint64_t>()) return *value;
  if (const auto* value = json.as<double>()) return *value;
  if (const auto* value = json.as<std::string>()) return *value;
  if (const auto* members = json.as<Json::Members>()) {
    Library all = Library::object();
    for (const auto& [name, value] : *members) all.emplace(name, to_library(value));
    return all;
  }
  if (const auto* elements = json.as<Json::Elements>()) {
    Library all = Library::array();
    for (const Json& element : *elements) all.push_back(to_library(element));
    return all;
  }
  return nullptr;
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
    return to_library(*this).dump(indent);
  } catch (const Library::exception&) {
    throw Error("JSON: a text in it is not valid UTF-8");
  }
}

std::string Json::line(int indent) const {
  return to_library(*this).dump(indent, ' ', false, Library::error_handler_t::replace);
}

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
