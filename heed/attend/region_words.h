#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::attend {

/// "causal+sliding_window" -> causal, sliding_window
inline std::vector<std::string> region_words(std::string_view region) {
  std::vector<std::string> words(1);
  for (const char c : region) {
    if (c == '+')
      words.emplace_back();
    else if (c != ' ')
      words.back() += c;
  }
  return words;
}

}  // namespace heed::attend
