// The ids that every vocabulary starts with.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace heed::text {

inline constexpr int32_t kUnknown = 0;  // text that is not in the vocabulary
inline constexpr int32_t kStart = 1;    // what a decoder sees before the first token
inline constexpr int32_t kEnd = 2;      // what it writes after the last
inline constexpr int32_t kSpecials = 3;

inline constexpr std::array<std::string_view, kSpecials> kSpecialNames = {"<unk>", "<s>", "</s>"};

/// Decoded text for kUnknown, the same as SentencePiece's.
inline constexpr std::string_view kUnknownShown = "\u2047";  // ⁇

}  // namespace heed::text
