// What a search considered, with its tokens as text.
#pragma once

#include "heed/model/search/search_tree.h"
#include "heed/text/tokeniser.h"
#include "heed/view/document.h"

namespace heed::view {

/// `keys`: the sequence that the weights are about; they are left out if its length is another. Null: none.
Beam beam_of(const search::SearchTree& tree, const text::Tokeniser& target, const Sequence* keys);

}  // namespace heed::view
