#include "heed/data/batch.h"

namespace heed::data {

void Targets::add_tokens(std::span<const int32_t> tokens, int32_t end) {
  in.push_back(text::kStart);
  in.insert(in.end(), tokens.begin(), tokens.end());
  out.insert(out.end(), tokens.begin(), tokens.end());
  out.push_back(end);
  offsets.push_back(std::ssize(out));
}

void Targets::add_labels(std::span<const int32_t> labels) {
  out.insert(out.end(), labels.begin(), labels.end());
  offsets.push_back(std::ssize(out));
}

}  // namespace heed::data
