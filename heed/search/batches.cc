#include "heed/search/batches.h"

#include <algorithm>
#include <numeric>

#include "heed/tensor/error.h"

namespace heed::search {

namespace {

/// Some of the sources, packed anew.
struct Batch {
  std::vector<int32_t> ids;
  std::vector<int64_t> offsets = {0}, numbers, places;

  bool has_room(int64_t tokens, const BatchLimits& limits) const {
    return places.empty() || (std::ssize(ids) + tokens <= limits.tokens &&
                              (limits.sentences == 0 || std::ssize(places) < limits.sentences));
  }
  void add(const Sources& all, int64_t b) {
    const auto source = all.at(b);
    ids.insert(ids.end(), source.begin(), source.end());
    offsets.push_back(std::ssize(ids));
    numbers.push_back(all.number(b));
    places.push_back(b);
  }
};

}  // namespace

std::vector<Result> search_all(const model::Seq2Seq& model, Tape& tape, const Sources& sources, const Options& options,
                               const BatchLimits& limits) {
  expect(limits.tokens > 0 && limits.sentences >= 0, "search: batches of {} tokens and {} sentences", limits.tokens,
         limits.sentences);
  std::vector<int64_t> order(static_cast<size_t>(std::max<int64_t>(sources.size(), 0)));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return sources.at(a).size() > sources.at(b).size(); });
  std::vector<Result> results(order.size());
  Batch batch;
  const auto finish = [&] {
    if (batch.places.empty()) return;
    std::vector<Result> found =
        search(model, tape, {.ids = batch.ids, .offsets = batch.offsets, .numbers = batch.numbers}, options);
    for (size_t i = 0; i < found.size(); ++i) results[static_cast<size_t>(batch.places[i])] = std::move(found[i]);
    batch = {};
  };
  for (const int64_t b : order) {
    if (!batch.has_room(std::ssize(sources.at(b)), limits)) finish();
    batch.add(sources, b);
  }
  finish();
  return results;
}

}  // namespace heed::search
