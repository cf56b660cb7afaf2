// Running text in a file, read document by document, and as the tokens that a model of the next token learns from:
// <s> before every line, </s> after every document (data/text_pieces.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/choice.h"
#include "heed/data/report.h"
#include "heed/task/language_model/token_store.h"
#include "heed/text/tokeniser.h"

namespace heed::task {

/// What a document is: the whole file, the lines up to an empty one, or each line that is not empty.
enum class Documents { file, blank_line, line };
inline constexpr Choice<Documents> kDocuments[] = {
    {"file", Documents::file}, {"blank_line", Documents::blank_line}, {"line", Documents::line}};

/// Whether a document has lines, each after an <s>, so that outputs may have several too. `documents`: data.documents.
inline bool has_lines(std::string_view documents) {
  return value_of(kDocuments, documents, "data: documents") != Documents::line;
}

/// A line of a text.
struct TextLine {
  std::string_view text;
  bool begins = false;   // a document
  int64_t document = 0;  // its number, from 0
};

/// Calls `use` with every line. Lines that are not UTF-8 are left out and counted. Never holds more than a line, so
/// that a text may be larger than the memory.
void for_each_line(const std::filesystem::path& file, Documents documents, data::Report& report,
                   const std::function<void(const TextLine&)>& use);

/// The tokens of a text, line by line.
class TextEncoder {
 public:
  explicit TextEncoder(const text::Tokeniser& tokeniser)
      : tokeniser_(tokeniser), tokens_(std::make_shared<TokenStore>()) {}

  void add(std::string_view line, bool begins_a_document);
  /// Call once, after the last line.
  std::shared_ptr<const TokenStore> finish();

  int64_t characters() const { return characters_; }  // with the ends of lines
  int64_t unknown() const { return unknown_; }        // tokens that the vocabulary lacks

 private:
  const text::Tokeniser& tokeniser_;
  std::shared_ptr<TokenStore> tokens_;
  int64_t characters_ = 0, unknown_ = 0;
};

/// A text that is continued: [<s>, its tokens], with <s> for every end of a line in it that the tokeniser does not
/// hold.
std::vector<int32_t> beginning_of(std::string_view text, const text::Tokeniser& tokeniser);
/// Back again: what follows the beginning.
std::string continuation(std::span<const int32_t> beginning, std::span<const int32_t> more,
                         const text::Tokeniser& tokeniser);

}  // namespace heed::task
