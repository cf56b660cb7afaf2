#include "heed/task/language_model/text_pieces.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/text/tokens.h"

namespace heed::task {

TextPieces::TextPieces(std::shared_ptr<const TokenStore> tokens, int64_t characters, const PieceOptions& options)
    : tokens_(std::move(tokens)), characters_(characters), options_(options) {
  expect(options.length > 0, "text: a piece must have at least 1 token, not {}", options.length);
}

int64_t TextPieces::end_of(int64_t place) const { return std::min(place + options_.length, tokens_->size() - 1); }

int64_t TextPieces::size() const {
  return std::max<int64_t>(tokens_->size() - 1 + options_.length - 1, 0) / options_.length;
}

int64_t TextPieces::predictions(int64_t place) const {
  const auto stretch = tokens_->ids().subspan(static_cast<size_t>(place), static_cast<size_t>(end_of(place) - place));
  return std::ssize(stretch) - std::count(stretch.begin(), stretch.end(), text::kEnd);
}

std::vector<data::Indices> TextPieces::batches(const data::BatchOptions& options, int64_t epoch) const {
  text::Random random(options.seed, static_cast<uint64_t>(epoch));
  const int64_t last = tokens_->size() - 1;
  // Other cuts in every epoch, so that not always the same tokens lack their past.
  const int64_t most = std::min(options_.length, last / 4);
  const int64_t shift =
      options.shuffle && most > 0 ? static_cast<int64_t>(random.below(static_cast<uint64_t>(most))) : 0;
  std::vector<int64_t> places;
  // A document has at least its <s>, so only a stretch of one token can be nothing but an end. The text is not read.
  for (int64_t place = shift; place < last; place += options_.length)
    if (end_of(place) - place > 1 || tokens_->ids()[static_cast<size_t>(place)] != text::kEnd) places.push_back(place);
  const int64_t count = std::ssize(places);
  const int64_t together = std::clamp<int64_t>(options.max_tokens / options_.length, 1, std::max<int64_t>(count, 1));
  std::vector<data::Indices> batches;
  if (!options_.carried) {
    if (options.shuffle) random.shuffle(std::span(places));
    for (int64_t i = 0; i < count; i += together)
      batches.emplace_back(places.begin() + i, places.begin() + std::min(i + together, count));
    return batches;
  }
  // `together` streams for each of the batches that are side by side; stream b of all has the places
  // [b * count / streams, (b + 1) * count / streams).
  const int64_t beside = std::max<int64_t>(options.side_by_side, 1);
  const int64_t streams = together > count / beside ? std::max<int64_t>(count, 1) : together * beside;
  const int64_t longest = (count + streams - 1) / streams;
  for (int64_t t = 0; t < longest; ++t)
    for (int64_t part = 0; part < beside; ++part) {
      data::Indices batch;
      for (int64_t b = part * streams / beside; b < (part + 1) * streams / beside; ++b)
        if (const int64_t i = b * count / streams + t; i < (b + 1) * count / streams)
          batch.push_back(places[static_cast<size_t>(i)]);
      if (!batch.empty()) batches.push_back(std::move(batch));
    }
  return batches;
}

data::Batch TextPieces::pack(std::span<const int64_t> places) const {
  const std::span<const int32_t> ids = tokens_->ids();
  data::Batch batch;
  batch.of_examples.push_back(0);
  data::Targets& pieces = batch.targets;
  const auto close = [&](int64_t end) {  // the current piece, if it has tokens
    if (std::ssize(pieces.in) == pieces.offsets.back()) return;
    pieces.offsets.push_back(std::ssize(pieces.in));
    batch.ends.push_back(end);
  };
  for (const int64_t place : places) {
    expect(place >= 0 && place + 1 < tokens_->size(), ErrorKind::bug, "text: no piece begins at {}", place);
    const int64_t end = end_of(place);
    bool starts = true;
    for (int64_t i = place; i < end; ++i) {
      const int32_t id = ids[static_cast<size_t>(i)];
      if (id == text::kEnd) {
        close(-1);
        starts = true;
        continue;
      }
      if (starts)
        batch.begins.push_back(i == place && place > 0 && ids[static_cast<size_t>(i - 1)] != text::kEnd ? i : -1);
      starts = false;
      pieces.in.push_back(id);
      pieces.out.push_back(ids[static_cast<size_t>(i) + 1]);
    }
    close(end);
    batch.of_examples.push_back(std::ssize(pieces.in));
  }
  return batch;
}

}  // namespace heed::task
