#include "heed/task/suggestion.h"

#include <fmt/format.h>

#include <vector>

namespace heed::task {

bool is_untouched(const attend::Options& attention) {
  const auto values = [](const attend::Options& options) {
    std::vector<std::string> all;
    attend::each_option(options, [&](const char*, const auto& value) { all.push_back(fmt::format("{}", value)); });
    return all;
  };
  return values(attention) == values({});
}

}  // namespace heed::task
