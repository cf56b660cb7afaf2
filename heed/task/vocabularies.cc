#include "heed/task/vocabularies.h"

namespace heed::task {

void Vocabularies::each_part(const Description& description,
                             const std::function<void(const std::string&, std::string)>& add) const {
  add(description.source.vocabulary, source->contents());
  if (!description.joint) add(description.target.vocabulary, target->contents());
}

Vocabularies Vocabularies::parse(const Description& description, const std::function<Part(const std::string&)>& read) {
  const auto parse_side = [&](const Description::Side& side) {
    const Part part = read(side.vocabulary);
    return text::Tokeniser::parse(side.tokens, part.contents, part.place);
  };
  Vocabularies v;
  v.source = parse_side(description.source);
  v.target = description.joint ? v.source : parse_side(description.target);
  return v;
}

}  // namespace heed::task
