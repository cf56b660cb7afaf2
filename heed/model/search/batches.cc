#include "heed/model/search/batches.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>

#include "heed/base/error.h"
#include "heed/kernels/interrupt.h"
#include "heed/kernels/one_thread.h"
#include "heed/kernels/threads.h"
#include "heed/model/search/source_batch.h"

namespace heed::search {

namespace {

using Places = std::vector<int64_t>;

/// Which sources are searched together, by their places in the input. The longest first. As few batches as the limits
/// allow, and of those about the same number of tokens in each. Without `mixed`, those of a batch have the same length.
/// width(b): the hypotheses of a sentence, usually `hypotheses`.
template <class Width>
std::vector<Places> cut(const Input& input, std::span<const int64_t> lengths, const BatchLimits& limits, bool mixed,
                        int64_t hypotheses, const Width& width) {
  const auto length = [&](int64_t b) { return lengths[static_cast<size_t>(b)]; };
  std::vector<int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return length(a) > length(b); });
  hypotheses = std::max<int64_t>(hypotheses, 1);  // search() refuses 0
  const auto cost = [&](int64_t b) {  // a sentence with phrases that must come may need more hypotheses than others
    const int64_t more = input.rules_of(b) ? (width(b) + hypotheses - 1) / hypotheses : 1;
    return length(b) * more;
  };
  int64_t tokens = 0;
  for (const int64_t b : order) tokens += cost(b);
  const int64_t most = std::max<int64_t>(limits.tokens / hypotheses, 1);
  const int64_t fewest = std::max<int64_t>((tokens + most - 1) / most, 1);
  const int64_t share = std::max<int64_t>((tokens + fewest - 1) / fewest, 1);

  std::vector<Places> batches;
  int64_t filled = 0;
  const auto has_room = [&](int64_t b) {
    const Places& batch = batches.back();
    return filled < share && filled + cost(b) <= most &&
           (limits.sentences == 0 || std::ssize(batch) < limits.sentences) &&
           (mixed || length(b) == length(batch.back()));
  };
  for (const int64_t b : order) {
    if (batches.empty() || !has_room(b)) {
      batches.emplace_back();
      filled = 0;
    }
    batches.back().push_back(b);
    filled += cost(b);
  }
  return batches;
}

/// The rows of memory that each source becomes.
std::vector<int64_t> memory_rows(const model::Searchable& generator, const data::Sources& sources) {
  std::vector<int64_t> rows;
  for (int64_t b = 0; b < sources.size(); ++b) rows.push_back(generator.memory_rows(sources, b));
  return rows;
}

/// With a model of either kind.
template <class Generator>
std::vector<Result> search_batches(const Generator& generator, TapePool& tapes, const Input& input,
                                   const Options& options, const std::vector<Places>& batches) {
  std::vector<Result> results(static_cast<size_t>(input.size()));
  const auto find = [&](const Places& places) {
    const SourceBatch batch(input, places);
    TapePool::Lease tape(tapes);
    std::vector<Result> found = search(generator, *tape, batch.view(), options);
    for (size_t i = 0; i < found.size(); ++i) results[static_cast<size_t>(places[i])] = std::move(found[i]);
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

std::vector<Result> search_all(const model::Generator& generator, TapePool& tapes, const Input& input,
                               const Options& options, const BatchLimits& limits) {
  check(limits);
  const int64_t hypotheses = options.sample ? options.nbest : options.beam;
  const auto width = [&](int64_t b) { return width_of(input, b, options); };
  return search_batches(
      generator, tapes, input, options,
      cut(input, memory_rows(generator, input.sources), limits, generator.mixes_lengths(), hypotheses, width));
}

std::vector<Result> search_all(const model::ParallelGenerator& generator, TapePool& tapes, const Input& input,
                               const Options& options, const BatchLimits& limits) {
  check(limits);
  return search_batches(generator, tapes, input, options,
                        cut(input, memory_rows(generator, input.sources), limits, /*mixed=*/true, options.lengths,
                            [&](int64_t) { return options.lengths; }));
}

}  // namespace heed::search
