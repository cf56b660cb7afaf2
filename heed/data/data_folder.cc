#include "heed/data/data_folder.h"

#include <system_error>

namespace heed::data {

namespace fs = std::filesystem;

fs::path real_folder(const fs::path& folder) {
  std::error_code wrong;
  const fs::path found = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, wrong);
  return wrong ? folder : fs::absolute(found, wrong).lexically_normal();
}

fs::path folder_beside(const fs::path& file, const fs::path& folder) {
  return (real_folder(file.parent_path()) / folder).lexically_normal().lexically_proximate(real_folder(".")) / "";
}

}  // namespace heed::data
