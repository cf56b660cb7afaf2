#include "heed/task/vocabularies.h"

namespace heed::task {

void Vocabularies::each_part(const Description& description,
                             const std::function<void(const std::string&, std::string)>& add) const {
  add(description.source.vocabulary, source->contents());
  if (!description.joint) add(description.target.vocabulary, target->contents());
}

Vocabularies Vocabularies::load(const file::Checkpoint& checkpoint, const Description& description) {
  const auto read = [&](const Description::Side& side) {
    return text::Tokeniser::parse(side.tokens, checkpoint.text(side.vocabulary), checkpoint.place_of(side.vocabulary));
  };
  Vocabularies v;
  v.source = read(description.source);
  v.target = description.joint ? v.source : read(description.target);
  return v;
}

}  // namespace heed::task
