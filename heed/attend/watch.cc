#include "heed/attend/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace heed::attend {

namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "decoder.0.source.2" is the second call of "decoder.0.source".
bool is_call_of(std::string_view wanted, const std::string& name) {
  if (!wanted.starts_with(name + ".")) return false;
  return wanted.find_first_not_of("0123456789", name.size() + 1) == std::string_view::npos;
}

}  // namespace

bool Watch::begins(const std::string& name) {
  if (!has(names_, name)) names_.push_back(name);
  if (!options_.names.empty() &&
      std::none_of(options_.names.begin(), options_.names.end(),
                   [&](const std::string& each) { return each == name || is_call_of(each, name); }))
    return false;
  computed_ = name;
  return true;
}

void Watch::count(const Weights& weights) {
  weights_ += weights.batch * weights.heads * weights.queries * weights.keys;
  if (weights_ <= options_.most_weights) return;
  throw TooManyWeights(fmt::format("{} has {} {} of {} x {} weights; with those before it there are more than {}",
                                   computed_, weights.heads, weights.heads == 1 ? "head" : "heads",
                                   weights.batch * weights.queries, weights.keys, options_.most_weights));
}

void Watch::add_unwatched(const std::string& name, const AttendArguments& asked) {
  WatchedCall call{.name = name, .first_step = asked.state.step()};
  const Offsets &queries = asked.queries.rows.offsets, &keys = asked.prepared.offsets;
  for (int64_t b = 0; b < asked.prepared.batch; ++b) {
    call.queries.push_back(queries && b < queries.count ? queries.length(b) : 0);
    call.keys.push_back(keys && b < keys.count ? keys.length(b) : asked.prepared.filled);
  }
  calls_.push_back(std::move(call));
}

void Watch::show(const std::string& name, const Weights& weights, const Offsets& queries, const Offsets& keys) {
  if (!wants(name)) return;
  current_->count(weights);
  WatchedCall call{.name = name, .heads = weights.heads};
  for (int64_t b = 0; b < weights.batch; ++b) {
    std::vector<float> all;
    for (int64_t h = 0; h < weights.heads; ++h)
      for (int64_t i = 0; i < queries.length(b); ++i)
        all.insert(all.end(), weights.at(b, h, i), weights.at(b, h, i) + keys.length(b));
    call.queries.push_back(queries.length(b));
    call.keys.push_back(keys.length(b));
    call.weights.push_back(std::move(all));
  }
  current_->calls_.push_back(std::move(call));
}

void Watch::add(const std::string& name, const AttendArguments& asked, const Weights& weights) {
  if (!weights.data) return;
  WatchedCall call{.name = name, .first_step = asked.state.step(), .heads = weights.heads};
  const Offsets &queries = asked.queries.rows.offsets, &keys = asked.prepared.offsets;
  for (int64_t b = 0; b < weights.batch; ++b) {
    // Learned queries have no rows, and static attention answers all of them with one.
    const int64_t rows = queries ? std::min(queries.length(b), weights.queries) : weights.queries;
    const int64_t columns = keys ? keys.length(b) : asked.prepared.filled;
    std::vector<float> all;
    all.reserve(static_cast<size_t>(weights.heads * rows * columns));
    for (int64_t h = 0; h < weights.heads; ++h)
      for (int64_t i = 0; i < rows; ++i) all.insert(all.end(), weights.at(b, h, i), weights.at(b, h, i) + columns);
    call.queries.push_back(rows);
    call.keys.push_back(columns);
    call.weights.push_back(std::move(all));
  }
  calls_.push_back(std::move(call));
}

}  // namespace heed::attend
