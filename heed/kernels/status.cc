#include "heed/kernels/status.h"

#include <utility>

namespace heed::kernels {

namespace {

/// Made when the program starts, while there is memory.
const std::vector<std::string> kNoMemory = {
    "memory: not enough for this problem; use fewer threads, smaller batches or shorter rows"};

}  // namespace

Status Status::no_memory() {
  Status status;
  status.out_of_memory_ = true;
  return status;
}

const std::vector<std::string>& Status::reasons() const { return out_of_memory_ ? kNoMemory : reasons_; }

void Status::refuse(std::string reason) { reasons_.push_back(std::move(reason)); }

std::string Status::message() const {
  std::string text;
  for (const std::string& reason : reasons()) {
    if (!text.empty()) text += '\n';
    text += reason;
  }
  return text;
}

}  // namespace heed::kernels
