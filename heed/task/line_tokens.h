// What is said about the tokens of a line, whatever the task.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/task/prediction.h"
#include "heed/text/tokeniser.h"

namespace heed::task {

/// Without \n, \r\n or \r.
std::string_view without_end(std::string_view line);

/// [ids] As the vocabulary spells them. `copied`: the words of a source behind its last token (data/copied_words.h).
std::vector<std::string> spelled(const text::Tokeniser& tokeniser, std::span<const int32_t> ids,
                                 std::span<const std::string> copied = {});

/// Between <s> and </s>, if there are any: Options::framed.
std::vector<int32_t> framed(std::vector<int32_t> ids);

std::string too_long(int64_t tokens, int64_t places);

/// The tokens of the line that are not in the vocabulary, as written, each once. `ids`: all of the line.
std::vector<std::string> unknown_in(std::string_view line, std::span<const int32_t> ids, const text::Tokeniser& source);

/// Adds those of a pair's texts, line by line, to the ones that are there. Texts that are not valid UTF-8 add nothing.
void add_unknown(std::string_view text, const text::Tokeniser& tokeniser, std::vector<std::string>& unknown);

/// Of the target: as they are given, or its text cut into tokens. Throws if there are no such tokens.
std::vector<int32_t> target_tokens(const TextPair& pair, const text::Tokeniser& target,
                                   std::span<const std::string> copied = {});

}  // namespace heed::task
