#include "heed/data/examples.h"

#include <fmt/format.h>

#include <string>

#include "heed/data/packed_pairs.h"

namespace heed::data {

void Sequences::add(std::span<const int32_t> ids) {
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  offsets_.push_back(static_cast<int64_t>(ids_.size()));
}

Lengths lengths_of(const Examples& examples) {
  Lengths lengths;
  for (int64_t i = 0; i < examples.size(); ++i) {
    lengths.source.push_back(examples.source.length(i));
    lengths.target.push_back(examples.target.length(i) + 1);
  }
  return lengths;
}

std::vector<Batch> Examples::batches(const BatchOptions& options, int64_t epoch) const {
  return make_batches(lengths_of(*this), options, epoch);
}

std::unique_ptr<PackedBatch> Examples::pack(std::span<const int64_t> examples) const {
  return std::make_unique<PackedPairs>(pack_pairs(*this, examples));
}

Examples encode_pairs(const Pairs& pairs, const Tokenisers& tokenisers, const EncodeOptions& options, Report& report) {
  Examples examples;
  for (size_t i = 0; i < pairs.line.size(); ++i) {
    const int64_t line = pairs.line[i];
    const auto source = tokenisers.source.encode(pairs.source[i]);
    const auto target = tokenisers.target.encode(pairs.target[i]);
    if (source.empty() || target.empty()) {
      report.drop_kept(Fault::empty, line, source.empty() ? "source, no tokens" : "target, no tokens");
      continue;
    }
    const bool long_source = options.max_source > 0 && static_cast<int64_t>(source.size()) > options.max_source;
    const bool long_target = options.max_target > 0 && static_cast<int64_t>(target.size()) > options.max_target;
    if (long_source || long_target) {
      report.drop_kept(
          Fault::too_long, line,
          fmt::format("{}, {} tokens", long_source ? "source" : "target", (long_source ? source : target).size()));
      continue;
    }
    examples.source.add(source);
    examples.target.add(target);
    examples.line.push_back(line);
  }
  return examples;
}

}  // namespace heed::data
