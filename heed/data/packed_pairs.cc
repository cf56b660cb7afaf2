#include "heed/data/packed_pairs.h"

#include "heed/tensor/error.h"

namespace heed::data {

PackedPairs pack_sources(const Sequences& sources, std::span<const int64_t> indices) {
  PackedPairs batch;
  batch.source_offsets.push_back(0);
  batch.target_offsets.assign(indices.size() + 1, 0);
  for (const int64_t i : indices) {
    expect(i >= 0 && i < sources.size(), "there is no example {}: there are only {}", i, sources.size());
    const auto ids = sources[i];
    batch.source.insert(batch.source.end(), ids.begin(), ids.end());
    batch.source_offsets.push_back(static_cast<int64_t>(batch.source.size()));
  }
  return batch;
}

PackedPairs pack_pairs(const Examples& examples, std::span<const int64_t> indices) {
  PackedPairs batch = pack_sources(examples.source, indices);
  for (size_t b = 0; b < indices.size(); ++b) {
    const auto ids = examples.target[indices[b]];
    batch.target_in.push_back(text::kStart);
    batch.target_in.insert(batch.target_in.end(), ids.begin(), ids.end());
    batch.target_out.insert(batch.target_out.end(), ids.begin(), ids.end());
    batch.target_out.push_back(text::kEnd);
    batch.target_offsets[b + 1] = static_cast<int64_t>(batch.target_in.size());
  }
  if (examples.links.size() == 0) return batch;
  batch.link_offsets.push_back(0);
  for (const int64_t i : indices) {
    const std::span<const Link> links = examples.links[i];  // by target
    size_t next = 0;
    for (int64_t t = 0; t <= examples.target.length(i); ++t) {
      for (; next < links.size() && links[next].target == t; ++next) batch.link_sources.push_back(links[next].source);
      batch.link_offsets.push_back(std::ssize(batch.link_sources));
    }
  }
  return batch;
}

}  // namespace heed::data
