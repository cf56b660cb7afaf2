// The words of version 1, which mean something else today: checkpoints of heed 0.1 have them. Words that were only
// replaced are no matter of versions: entries know what they were called before (task.h, choice.h).
#pragma once

#include <string>
#include <string_view>

namespace heed::recipe {

/// Makes of the value of a key, as version 1 wrote it, the one that means the same today.
void from_version_1(std::string_view key, std::string& value);

}  // namespace heed::recipe
