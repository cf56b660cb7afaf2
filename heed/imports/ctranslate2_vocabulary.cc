#include "heed/imports/ctranslate2_vocabulary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "heed/base/error.h"
#include "heed/imports/json_file.h"
#include "heed/imports/make.h"
#include "heed/imports/token_table.h"
#include "heed/text/utf8.h"
#include "heed/text/visible.h"

namespace heed::imports {

namespace {

namespace fs = std::filesystem;

bool is_mark(const std::string& token) { return token.starts_with('<') && token.ends_with('>') && token.size() > 2; }

}  // namespace

std::optional<int64_t> id_of(const std::vector<std::string>& tokens, const std::string& token) {
  const auto found = std::find(tokens.begin(), tokens.end(), token);
  if (found == tokens.end()) return std::nullopt;
  return found - tokens.begin();
}

std::vector<std::string> ctranslate2_tokens(const fs::path& folder, const std::vector<std::string>& names, int64_t rows,
                                            const std::string& unknown) {
  for (const std::string& name : names)
    for (const char* ending : {".json", ".txt"}) {
      const fs::path path = folder / (name + ending);
      std::error_code ignored;
      if (!fs::is_regular_file(path, ignored)) continue;
      std::vector<std::string> tokens =
          path.extension() == ".json" ? texts_of(read_json(path), path.string()) : lines_of_file(path);
      if (!id_of(tokens, unknown)) tokens.push_back(unknown);
      expect(std::ssize(tokens) == rows, ErrorKind::file, "'{}' has {} tokens with '{}', but the model has {}",
             path.string(), tokens.size(), unknown, rows);
      return tokens;
    }
  throw Error(ErrorKind::missing, fmt::format("'{}' has no vocabulary {}", folder.string(), fmt::join(names, " or ")));
}

std::shared_ptr<const text::Tokeniser> ctranslate2_tokeniser(const std::vector<std::string>& tokens,
                                                             const TokenOrder& order, const std::string& file) {
  const bool characters = std::all_of(tokens.begin(), tokens.end(), [](const std::string& token) {
    return is_mark(token) || (text::utf8_fault(token) == std::string_view::npos && text::utf8_count(token) == 1);
  });
  std::vector<std::string> shown;  // no output may end its line, or control a terminal
  for (const std::string& token : in_order(order, tokens))
    shown.push_back(text::find_control(token) == std::string_view::npos ? token : text::visible(token));
  const std::string contents = vocabulary_contents(shown);
  return text::Tokeniser::parse(characters ? "characters" : "words", contents, file);
}

}  // namespace heed::imports
