// The vocabularies beside a model of CTranslate2: .json, a list, or .txt, a token on each line.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/imports/token_order.h"
#include "heed/text/tokeniser.h"

namespace heed::imports {

/// The tokens of the first of these vocabularies that is there, of as many as a table has rows: <unk> is added at the
/// end if it lacks it, as CTranslate2 does.
std::vector<std::string> ctranslate2_tokens(const std::filesystem::path& folder, const std::vector<std::string>& names,
                                            int64_t rows, const std::string& unknown);

/// Characters if every token but those in <...> is one; words, separated by blanks, otherwise.
std::shared_ptr<const text::Tokeniser> ctranslate2_tokeniser(const std::vector<std::string>& tokens,
                                                             const TokenOrder& order, const std::string& file);

/// The id of a token. None if there is none.
std::optional<int64_t> id_of(const std::vector<std::string>& tokens, const std::string& token);

}  // namespace heed::imports
