#include "heed/task/language_model/text_windows.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/tokens.h"

namespace heed::task {

std::vector<TextWindow> windows_of(int64_t tokens, const WindowRule& rule) {
  expect(rule.length > 0 && rule.stride > 0 && rule.stride <= rule.length && rule.piece >= 0,
         "text: windows of {} tokens need a stride from 1 to {}, not {}", rule.length, rule.length, rule.stride);
  std::vector<TextWindow> all;
  for (int64_t first = 0; first < tokens;) {
    const int64_t begin = rule.begin_of(first), end = std::min(begin + rule.length, tokens);
    const int64_t piece = rule.piece > 0 ? rule.piece : rule.length;
    for (int64_t from = begin; from < end; from += piece) {
      const int64_t to = std::min(from + piece, end);
      all.push_back({.begin = from,
                     .first = std::clamp(first, from, to),
                     .end = to,
                     .goes_on = from > begin,
                     .is_continued = to < end});
    }
    first = end;
  }
  return all;
}

std::vector<data::Indices> batches_of(std::span<const TextWindow> windows, int64_t max_tokens) {
  std::vector<data::Indices> batches;
  constexpr int64_t kCarried = 65'536;  // tokens whose states may be carried, of all windows that are read side by side
  for (size_t next = 0; next < windows.size();) {
    // Side by side: as many as fit with their first parts, which are the longest.
    std::vector<std::pair<size_t, size_t>> rows;  // [begin, end) of the parts that go on from each other
    for (int64_t tokens = 0, carried = 0; next < windows.size();) {
      size_t end = next + 1;
      while (end < windows.size() && windows[end].goes_on) ++end;
      tokens += windows[next].end - windows[next].begin;
      if (end > next + 1) carried += windows[end - 1].end - windows[next].begin;
      if ((tokens > max_tokens || carried > kCarried) && !rows.empty()) break;
      rows.emplace_back(next, end);
      next = end;
    }
    for (size_t t = 0;; ++t) {
      data::Indices batch;
      for (const auto& [begin, end] : rows)
        if (begin + t < end) batch.push_back(static_cast<int64_t>(begin + t));
      if (batch.empty()) break;
      batches.push_back(std::move(batch));
    }
  }
  return batches;
}

void add_window(data::Batch& batch, std::span<const int32_t> document, const TextWindow& window, int64_t place) {
  data::Targets& parts = batch.targets;
  for (int64_t i = window.begin; i < window.end; ++i) {
    parts.in.push_back(document[static_cast<size_t>(i)]);
    parts.out.push_back(i >= window.first ? document[static_cast<size_t>(i) + 1] : -1);
  }
  parts.offsets.push_back(std::ssize(parts.in));
  batch.begins.push_back(window.goes_on ? place + window.begin : -1);
  batch.ends.push_back(window.is_continued ? place + window.end : -1);
  batch.carries_all = true;
}

TextWindows::TextWindows(std::shared_ptr<const TokenStore> tokens, int64_t characters, const WindowRule& rule)
    : tokens_(std::move(tokens)), characters_(characters) {
  const std::span<const int32_t> ids = tokens_->ids();
  for (size_t begin = 0; begin < ids.size();) {
    const auto end = static_cast<size_t>(std::find(ids.begin() + static_cast<ptrdiff_t>(begin), ids.end(), text::kEnd) -
                                         ids.begin());
    // The last token of a document predicts nothing: </s>, or, of a text without it, what stands at the end.
    const size_t last = std::min(end, ids.size() - 1);
    for (TextWindow window : windows_of(static_cast<int64_t>(last - begin), rule)) {
      for (int64_t* each : {&window.begin, &window.first, &window.end}) *each += static_cast<int64_t>(begin);
      windows_.push_back(window);
    }
    begin = end + 1;
  }
}

int64_t TextWindows::predictions(int64_t example) const {
  const TextWindow& window = windows_[static_cast<size_t>(example)];
  return window.end - window.first;
}

int64_t TextWindows::longest_sequence(int64_t example) const {
  const TextWindow& window = windows_[static_cast<size_t>(example)];
  return window.end - window.begin;
}

std::vector<data::Indices> TextWindows::batches(const data::BatchOptions& options, int64_t) const {
  return batches_of(windows_, options.max_tokens);
}

data::Batch TextWindows::pack(std::span<const int64_t> examples) const {
  data::Batch batch;
  for (const int64_t example : examples) add_window(batch, tokens_->ids(), windows_[static_cast<size_t>(example)], 0);
  return batch;
}

}  // namespace heed::task
