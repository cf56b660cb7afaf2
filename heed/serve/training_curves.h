// The curves of a training, from its log.
#pragma once

#include <filesystem>
#include <optional>

#include "heed/base/json.h"

namespace heed::serve {

/// [{"step", "loss"} or {"step", "valid_loss", "metric"}, ..] as docs/attention_document.md has it, from log.jsonl in
/// the folder of a training, which may still go on. None if there is no such file. Of a long training, some points
/// between validations are left out.
std::optional<file::Json> training_curve(const std::filesystem::path& folder);

}  // namespace heed::serve
