// Of what a model attended to, the part that somebody wants.
#pragma once

#include <string>
#include <vector>

#include "heed/view/document.h"
#include "heed/view/look.h"

namespace heed::view {

/// Drops the attentions, heads and rows that are not chosen. `attentions`: the names of all that the model has. Throws
/// Error where one is chosen that is not there.
void keep_chosen(Example& example, const Shown& shown, const std::vector<std::string>& attentions);

}  // namespace heed::view
