// Words that are spelled in two ways. Names of options have the British one; both are read.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace heed {

/// The name with every word in the spelling that options have: "attention.normalize" is "attention.normalise".
inline std::string british(std::string name) {
  constexpr std::pair<std::string_view, std::string_view> kSpellings[] = {{"normaliz", "normalis"},
                                                                          {"tokeniz", "tokenis"},
                                                                          {"optimiz", "optimis"},
                                                                          {"randomiz", "randomis"},
                                                                          {"initializ", "initialis"}};
  for (const auto& [american, ours] : kSpellings)
    for (size_t at = name.find(american); at != std::string::npos; at = name.find(american, at + ours.size()))
      name.replace(at, american.size(), ours);
  return name;
}

}  // namespace heed
