#include "heed/task/masked_language_model/masked_texts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/model/embed/embed.h"
#include "heed/text/tokens.h"

namespace heed::task {

bool can_be_asked(int32_t token) { return token >= text::kSpecials; }

MaskedTexts::MaskedTexts(std::shared_ptr<const TokenStore> tokens, const MaskedTextOptions& options)
    : tokens_(std::move(tokens)), options_(options) {
  expect(options_.length > ends(), "masked texts: a text must have at least {} token{}, not {}", 1 + ends(),
         ends() > 0 ? "s" : "", options_.length);
  expect(options_.vocabulary > text::kSpecials, "masked texts: the vocabulary has no tokens");
  const std::span<const int32_t> ids = tokens_->ids();
  for (size_t begin = 0; begin < ids.size();) {
    const auto end = static_cast<size_t>(std::find(ids.begin() + static_cast<ptrdiff_t>(begin), ids.end(), text::kEnd) -
                                         ids.begin());
    const size_t first = begin + (begin < end && ids[begin] == text::kStart ? 1 : 0);
    add_document(static_cast<int64_t>(first), static_cast<int64_t>(end));
    begin = end + 1;
  }
}

void MaskedTexts::add_document(int64_t begin, int64_t end) {
  const std::span<const int32_t> ids = tokens_->ids();
  const int64_t most = options_.length - ends(), length = end - begin, parts = (length + most - 1) / most;
  for (int64_t p = 0; p < parts; ++p) {
    Text text{.begin = begin + p * length / parts, .end = begin + (p + 1) * length / parts};
    for (int64_t i = text.begin; i < text.end; ++i) text.can_be_asked += can_be_asked(ids[static_cast<size_t>(i)]);
    if (text.can_be_asked > 0) texts_.push_back(text);
  }
}

int64_t MaskedTexts::predictions(int64_t example) const {
  const int64_t all = text_of(example).can_be_asked;
  return std::clamp<int64_t>(std::llround(options_.masks.share * static_cast<double>(all)), 1, all);
}

std::vector<data::Indices> MaskedTexts::batches(const data::BatchOptions& options, int64_t epoch) const {
  data::Lengths lengths;
  for (const Text& text : texts_) lengths.source.push_back(text.length() + ends());
  lengths.target = lengths.source;
  std::vector<data::Indices> batches = data::make_batches(lengths, options, epoch);
  if (options_.changes)
    for (data::Indices& batch : batches)
      for (int64_t& example : batch) example += epoch * size();
  return batches;
}

data::Batch MaskedTexts::pack(std::span<const int64_t> examples) const {
  const std::span<const int32_t> ids = tokens_->ids();
  data::Batch batch;
  std::vector<int32_t> tokens, places;
  for (const int64_t example : examples) {
    const Text& text = text_of(example);
    const auto of_text = ids.subspan(static_cast<size_t>(text.begin), static_cast<size_t>(text.length()));
    tokens.assign(of_text.begin(), of_text.end());
    places.clear();
    for (size_t i = 0; i < tokens.size(); ++i)
      if (can_be_asked(tokens[i])) places.push_back(static_cast<int32_t>(i));
    text::Random random(options_.seed, static_cast<uint64_t>(example));
    for (const size_t chosen : random.sample(places.size(), static_cast<size_t>(predictions(example)))) {
      int32_t& token = tokens[static_cast<size_t>(places[chosen])];
      batch.targets.places.push_back(places[chosen] + (options_.framed ? 1 : 0));
      batch.targets.out.push_back(token);
      const double what = random.uniform();
      if (what < options_.masks.replaced)
        token = embed::kBlank;
      else if (what < options_.masks.replaced + options_.masks.random)
        token = text::kSpecials +
                static_cast<int32_t>(random.below(static_cast<uint64_t>(options_.vocabulary - text::kSpecials)));
    }
    batch.targets.offsets.push_back(std::ssize(batch.targets.out));
    if (options_.framed) {
      tokens.insert(tokens.begin(), text::kStart);
      tokens.push_back(text::kEnd);
    }
    batch.sources.add(tokens);
  }
  return batch;
}

}  // namespace heed::task
