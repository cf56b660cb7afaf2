#include "heed/kernels/status.h"

namespace heed::kernels {

std::string Status::message() const {
  std::string text;
  for (const std::string& reason : reasons_) {
    if (!text.empty()) text += '\n';
    text += reason;
  }
  return text;
}

}  // namespace heed::kernels
