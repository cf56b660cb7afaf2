#include "heed/search/batches.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>

#include "heed/kernels/interrupt.h"
#include "heed/kernels/one_thread.h"
#include "heed/kernels/threads.h"
#include "heed/tensor/error.h"

namespace heed::search {

namespace {

/// Some of the sources, packed again.
struct Batch {
  std::vector<int32_t> ids = {};
  std::vector<int64_t> offsets = {0}, numbers = {}, places = {};

  void add(const Sources& all, int64_t b) {
    const auto source = all.at(b);
    ids.insert(ids.end(), source.begin(), source.end());
    offsets.push_back(std::ssize(ids));
    numbers.push_back(all.number(b));
    places.push_back(b);
  }
  Sources view() const { return {.ids = ids, .offsets = offsets, .numbers = numbers}; }
};

/// The longest first. As few as the limits allow, and of those about the same number of tokens in each. Each sentence
/// has `hypotheses`. Without `mixed`, those of a batch have the same length.
std::vector<Batch> cut(const Sources& sources, int64_t hypotheses, const BatchLimits& limits, bool mixed) {
  std::vector<int64_t> order(static_cast<size_t>(std::max<int64_t>(sources.size(), 0)));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return sources.at(a).size() > sources.at(b).size(); });
  const int64_t tokens = std::ssize(sources.ids);
  const int64_t most = std::max<int64_t>(limits.tokens / std::max<int64_t>(hypotheses, 1), 1);  // search() refuses 0
  const int64_t fewest = std::max<int64_t>((tokens + most - 1) / most, 1);
  const int64_t share = std::max<int64_t>((tokens + fewest - 1) / fewest, 1);

  std::vector<Batch> batches;
  const auto has_room = [&](int64_t more) {
    const Batch& batch = batches.back();
    return std::ssize(batch.ids) < share && std::ssize(batch.ids) + more <= most &&
           (limits.sentences == 0 || std::ssize(batch.places) < limits.sentences) &&
           (mixed || more == std::ssize(sources.at(batch.places.back())));
  };
  for (const int64_t b : order) {
    if (batches.empty() || !has_room(std::ssize(sources.at(b)))) batches.emplace_back();
    batches.back().add(sources, b);
  }
  return batches;
}

/// With a model of either kind.
template <class Generator>
std::vector<Result> search_batches(const Generator& generator, TapePool& tapes, const Sources& sources,
                                   const Options& options, const std::vector<Batch>& batches) {
  std::vector<Result> results(static_cast<size_t>(std::max<int64_t>(sources.size(), 0)));
  const auto find = [&](const Batch& batch) {
    TapePool::Lease tape(tapes);
    std::vector<Result> found = search(generator, *tape, batch.view(), options);
    for (size_t i = 0; i < found.size(); ++i) results[static_cast<size_t>(batch.places[i])] = std::move(found[i]);
  };
  if (batches.size() == 1) {  // all threads for the one
    find(batches.front());
    return results;
  }
  std::vector<std::exception_ptr> wrong(batches.size());
  std::atomic<bool> failed = false;
  const kernels::Interruptible* caller = kernels::Interruptible::of_this_thread();
  kernels::for_each_task(std::ssize(batches), kernels::most_threads(), [&](int64_t b) {
    if (failed) return;
    const kernels::OneThread alone;
    const kernels::InterruptedLike like(caller);
    try {
      find(batches[static_cast<size_t>(b)]);
    } catch (...) {
      wrong[static_cast<size_t>(b)] = std::current_exception();
      failed = true;
    }
  });
  for (const std::exception_ptr& error : wrong)
    if (error) std::rethrow_exception(error);
  return results;
}

void check(const BatchLimits& limits) {
  expect(limits.tokens > 0 && limits.sentences >= 0,
         "search: a batch needs at least 1 token, and sentences of 0 (no limit) or more, not {} and {}", limits.tokens,
         limits.sentences);
}

}  // namespace

std::vector<Result> search_all(const model::Generator& generator, TapePool& tapes, const Sources& sources,
                               const Options& options, const BatchLimits& limits) {
  check(limits);
  const int64_t hypotheses = options.sample ? options.nbest : options.beam;
  return search_batches(generator, tapes, sources, options,
                        cut(sources, hypotheses, limits, generator.mixes_lengths()));
}

std::vector<Result> search_all(const model::ParallelGenerator& generator, TapePool& tapes, const Sources& sources,
                               const Options& options, const BatchLimits& limits) {
  check(limits);
  return search_batches(generator, tapes, sources, options, cut(sources, options.lengths, limits, /*mixed=*/true));
}

}  // namespace heed::search
