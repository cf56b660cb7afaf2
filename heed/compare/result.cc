#include "heed/compare/result.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <utility>

#include "heed/base/atomic.h"
#include "heed/base/error.h"
#include "heed/task/version_1.h"
#include "heed/text/metric/all.h"
#include "heed/text/metric/perplexity.h"

namespace heed::compare {

namespace {

using file::Json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

template <class T>
Json rows_json(const std::vector<std::vector<T>>& rows) {
  Json all = Json::array();
  for (const std::vector<T>& row : rows) all.push_back(Json(row));
  return all;
}

/// Five decimals are more than a picture shows.
Json weights_json(const std::vector<std::vector<float>>& weights) {
  std::vector<std::vector<double>> rounded;
  for (const std::vector<float>& row : weights) {
    rounded.emplace_back();
    for (const float w : row) rounded.back().push_back(std::round(static_cast<double>(w) * 1e5) / 1e5);
  }
  return rows_json(rounded);
}

// ---------------------------------------------------------------------------------------------------------- reading

/// The members of an object, each checked before it is used.
class Reader {
 public:
  Reader(const Json& json, const std::string& file) : json_(json), file_(file) {}

  std::string text(const char* name) const { return text_of(at(name), name); }
  bool flag(const char* name) const {
    const bool* value = at(name).as<bool>();
    require(value != nullptr, name, "true or false");
    return *value;
  }
  double number(const char* name) const { return number_of(at(name), name); }
  int64_t count(const char* name) const {
    const double value = number(name);
    require(value >= 0 && value <= kMost && value == std::floor(value), name, "a whole number");
    return static_cast<int64_t>(value);
  }
  std::optional<double> number_or_none(const char* name) const {
    if (at(name).is_null()) return {};
    return number(name);
  }
  std::optional<int64_t> count_or_none(const char* name) const {
    if (at(name).is_null()) return {};
    return count(name);
  }
  std::vector<std::string> texts(const char* name) const {
    std::vector<std::string> all;
    for (const Json& element : elements(at(name), name)) all.push_back(text_of(element, name));
    return all;
  }
  template <class T>
  std::vector<std::vector<T>> rows(const char* name) const {
    std::vector<std::vector<T>> all;
    for (const Json& row : elements(at(name), name)) {
      all.emplace_back();
      for (const Json& value : elements(row, name)) all.back().push_back(static_cast<T>(number_of(value, name)));
    }
    return all;
  }

  const Json& at(const char* name) const {
    const Json* found = json_.find(name);
    require(found != nullptr, name, "there");
    return *found;
  }
  void require(bool condition, const char* name, const char* expected) const {
    expect(condition, ErrorKind::file,
           "'{}': '{}' should be {}: the file was changed or damaged. Remove it, and --resume measures this run again",
           file_, name, expected);
  }

 private:
  static constexpr double kMost = 1e15;

  std::string text_of(const Json& value, const char* name) const {
    require(value.as<std::string>() != nullptr, name, "a text");
    return *value.as<std::string>();
  }
  double number_of(const Json& value, const char* name) const {
    if (const auto* x = value.as<double>(); x && std::isfinite(*x)) return *x;
    if (const auto* x = value.as<uint64_t>()) return static_cast<double>(*x);
    if (const auto* x = value.as<int64_t>()) return static_cast<double>(*x);
    require(false, name, "a number");
    return 0;
  }
  const Json::Elements& elements(const Json& value, const char* name) const {
    require(value.as<Json::Elements>() != nullptr, name, "a list");
    return *value.as<Json::Elements>();
  }

  const Json& json_;
  const std::string& file_;
};

Picture picture_of(const Reader& r) {
  Picture p{r.text("line"),   r.texts("source"),   r.texts("rows"),
            r.text("output"), r.text("reference"), r.rows<float>("weights")};
  r.require(p.weights.size() == p.rows.size(), "weights", "a row for each of 'rows'");
  for (const std::vector<float>& row : p.weights)
    r.require(row.size() == p.source.size(), "weights", "a number for each of 'source'");
  return p;
}

Result result_of(const Json& json, const std::string& file) {
  const Reader r(json, file);
  Result result;
  result.error = r.text("error");
  if (!result.error.empty()) return result;
  result.metric = r.text("metric");
  result.metric_name = r.text("metric_name");
  result.labels = r.texts("labels");
  result.label_separator = r.text("labels_between");
  result.higher_is_better = r.flag("higher_is_better");
  result.value = r.number("value");
  result.loss = r.number("loss");
  result.parameters = r.count("parameters");
  result.updates = r.count("updates");
  result.seconds = r.number("seconds");
  result.training_speed = r.number_or_none("training_speed");
  result.training_memory = r.count_or_none("training_memory");
  result.decoding_speed = r.number_or_none("decoding_speed");
  result.entropy = r.number_or_none("entropy");
  result.monotonicity = r.number_or_none("monotonicity");
  result.statistics = r.rows<double>("statistics");
  const bool is_of_version_1 = !json.find("version");
  if (is_of_version_1) result.metric = task::word_of_today("validate.metric", result.metric);
  const std::unique_ptr<metric::Metric> metric = metric_of(result);
  const size_t width = metric->width();
  if (is_of_version_1) result.metric_name = metric->score(std::vector<double>(width)).name;
  for (const std::vector<double>& row : result.statistics)
    r.require(row.size() == width, "statistics", "rows of the metric's numbers");
  if (const Json& picture = r.at("picture"); !picture.is_null()) result.picture = picture_of(Reader(picture, file));
  return result;
}

}  // namespace

std::unique_ptr<metric::Metric> metric_of(const Result& result) {
  if (result.metric == "perplexity") return std::make_unique<metric::Perplexity>();
  metric::MetricOptions options;
  options.labels = result.labels;
  options.label_separator = result.label_separator;
  return metric::make_metric(result.metric, options);
}

Json to_json(const Result& r) {
  if (!r.error.empty()) return Json::object({{"error", r.error}});
  Json picture;
  if (r.picture)
    picture = Json::object({{"line", r.picture->line},
                            {"source", r.picture->source},
                            {"rows", r.picture->rows},
                            {"output", r.picture->output},
                            {"reference", r.picture->reference},
                            {"weights", weights_json(r.picture->weights)}});
  return Json::object({{"error", ""},
                       {"metric", r.metric},
                       {"metric_name", r.metric_name},
                       {"labels", r.labels},
                       {"labels_between", r.label_separator},
                       {"higher_is_better", r.higher_is_better},
                       {"value", r.value},
                       {"loss", r.loss},
                       {"parameters", r.parameters},
                       {"updates", r.updates},
                       {"seconds", r.seconds},
                       {"training_speed", or_null(r.training_speed)},
                       {"training_memory", or_null(r.training_memory)},
                       {"decoding_speed", or_null(r.decoding_speed)},
                       {"entropy", or_null(r.entropy)},
                       {"monotonicity", or_null(r.monotonicity)},
                       {"picture", picture},
                       {"statistics", rows_json(r.statistics)}});
}

void save_result(const Result& result, const std::filesystem::path& folder) {
  Json json = to_json(result);
  json["version"] = task::kDescriptionVersion;
  file::write_file(folder / kResultFile, json.line() + "\n");
}

std::optional<Result> load_result(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kResultFile;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  constexpr uint64_t kLargest = uint64_t{1} << 30;
  const std::optional<Json> json = Json::parse(file::read_text(path, kLargest));
  expect(json.has_value(), ErrorKind::file,
         "'{}' is not JSON: it was changed or damaged. Remove it, and --resume measures this run again", path.string());
  return result_of(*json, path.string());
}

}  // namespace heed::compare
