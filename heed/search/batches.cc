#include "heed/search/batches.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>

#include "heed/kernels/interrupt.h"
#include "heed/kernels/one_thread.h"
#include "heed/kernels/threads.h"
#include "heed/search/source_batch.h"
#include "heed/tensor/error.h"

namespace heed::search {

namespace {

/// The longest first. As few as the limits allow, and of those about the same number of tokens in each. Without
/// `mixed`, those of a batch have the same length. width(b): the hypotheses of a sentence, usually `hypotheses`.
template <class Width>
std::vector<SourceBatch> cut(const Sources& sources, const BatchLimits& limits, bool mixed, int64_t hypotheses,
                             const Width& width) {
  std::vector<int64_t> order(static_cast<size_t>(std::max<int64_t>(sources.size(), 0)));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return sources.at(a).size() > sources.at(b).size(); });
  hypotheses = std::max<int64_t>(hypotheses, 1);  // search() refuses 0
  const auto cost = [&](int64_t b) {  // a sentence with phrases that must come may need more hypotheses than others
    const int64_t more = sources.rules_of(b) ? (width(b) + hypotheses - 1) / hypotheses : 1;
    return std::ssize(sources.at(b)) * more;
  };
  int64_t tokens = 0;
  for (const int64_t b : order) tokens += cost(b);
  const int64_t most = std::max<int64_t>(limits.tokens / hypotheses, 1);
  const int64_t fewest = std::max<int64_t>((tokens + most - 1) / most, 1);
  const int64_t share = std::max<int64_t>((tokens + fewest - 1) / fewest, 1);

  std::vector<SourceBatch> batches;
  int64_t filled = 0;
  const auto has_room = [&](int64_t b) {
    const SourceBatch& batch = batches.back();
    return filled < share && filled + cost(b) <= most &&
           (limits.sentences == 0 || std::ssize(batch.places) < limits.sentences) &&
           (mixed || sources.at(b).size() == sources.at(batch.places.back()).size());
  };
  for (const int64_t b : order) {
    if (batches.empty() || !has_room(b)) {
      batches.emplace_back();
      filled = 0;
    }
    batches.back().add(sources, b);
    filled += cost(b);
  }
  return batches;
}

/// With a model of either kind.
template <class Generator>
std::vector<Result> search_batches(const Generator& generator, TapePool& tapes, const Sources& sources,
                                   const Options& options, const std::vector<SourceBatch>& batches) {
  std::vector<Result> results(static_cast<size_t>(std::max<int64_t>(sources.size(), 0)));
  const auto find = [&](const SourceBatch& batch) {
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
  const auto width = [&](int64_t b) { return width_of(sources, b, options); };
  return search_batches(generator, tapes, sources, options,
                        cut(sources, limits, generator.mixes_lengths(), hypotheses, width));
}

std::vector<Result> search_all(const model::ParallelGenerator& generator, TapePool& tapes, const Sources& sources,
                               const Options& options, const BatchLimits& limits) {
  check(limits);
  return search_batches(
      generator, tapes, sources, options,
      cut(sources, limits, /*mixed=*/true, options.lengths, [&](int64_t) { return options.lengths; }));
}

}  // namespace heed::search
