#include "heed/task/vocabularies.h"

#include <string>

namespace heed::task {

namespace {
constexpr const char* kSourceVocabulary = "source.vocab";
constexpr const char* kTargetVocabulary = "target.vocab";
}  // namespace

void Vocabularies::save(file::CheckpointWriter& writer) const {
  writer.add_text(kSourceVocabulary, source->contents());
  if (target != source) writer.add_text(kTargetVocabulary, target->contents());
}

Vocabularies Vocabularies::load(const file::Checkpoint& checkpoint, const data::Options& options) {
  const auto read = [&](const char* part, const std::string& kind) {
    return text::Tokeniser::parse(kind, checkpoint.text(part), checkpoint.place_of(part));
  };
  Vocabularies v;
  v.source = read(kSourceVocabulary, options.source.kind);
  v.target = options.joint ? v.source : read(kTargetVocabulary, options.target.kind);
  return v;
}

}  // namespace heed::task
