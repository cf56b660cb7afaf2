#include "heed/kernels/status.h"

#include <utility>

namespace heed::kernels {

void Status::refuse(std::string reason) { reasons_.push_back(std::move(reason)); }

std::string Status::message() const {
  std::string text;
  for (const std::string& reason : reasons_) {
    if (!text.empty()) text += '\n';
    text += reason;
  }
  return text;
}

}  // namespace heed::kernels
