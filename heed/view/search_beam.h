// What a search considered, with its tokens as text.
#pragma once

#include <span>
#include <string>

#include "heed/model/search/search_tree.h"
#include "heed/text/tokeniser.h"
#include "heed/view/document.h"

namespace heed::view {

/// `copied`: words of the source that are tokens behind the vocabulary (data/copied_words.h). `keys`: the sequence that
/// the weights are about; they are left out if its length is another. Null: none.
Beam beam_of(const search::SearchTree& tree, const text::Tokeniser& target, const Sequence* keys,
             std::span<const std::string> copied = {});

}  // namespace heed::view
