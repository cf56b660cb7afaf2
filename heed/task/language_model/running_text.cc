#include "heed/task/language_model/running_text.h"

#include <algorithm>
#include <utility>

#include "heed/data/lines.h"
#include "heed/text/utf8.h"

namespace heed::task {

void for_each_line(const std::filesystem::path& file, Documents documents, data::Report& report,
                   const std::function<void(const TextLine&)>& use) {
  data::LineReader lines(file);
  int64_t document = -1;
  bool begins = true;
  for (std::string line; lines.next(line);) {
    if (std::string wrong = text::utf8_complaint(line); !wrong.empty()) {
      report.drop(data::Fault::invalid_utf8, lines.number(), std::move(wrong));
      continue;
    }
    if (line.empty() && documents != Documents::file) {
      begins = true;
      continue;
    }
    report.keep();
    document += begins ? 1 : 0;
    use({line, begins, document});
    begins = documents == Documents::line;
  }
}

void TextEncoder::add(std::string_view line, bool begins_a_document) {
  if (begins_a_document && tokens_->size() > 0) tokens_->add(text::kEnd);
  tokens_->add(text::kStart);
  const std::vector<int32_t> ids = tokeniser_.encode(line);
  tokens_->add(ids);
  unknown_ += std::count(ids.begin(), ids.end(), text::kUnknown);
  characters_ += static_cast<int64_t>(text::utf8_count(line)) + 1;
}

std::shared_ptr<const TokenStore> TextEncoder::finish() {
  if (tokens_->size() > 0) tokens_->add(text::kEnd);
  tokens_->finish();
  return tokens_;
}

std::vector<int32_t> beginning_of(std::string_view text, const text::Tokeniser& tokeniser) {
  std::vector<int32_t> all;
  while (true) {
    const size_t end = tokeniser.holds_line_ends() ? std::string_view::npos : text.find('\n');
    all.push_back(text::kStart);
    const std::vector<int32_t> ids = tokeniser.encode(text.substr(0, end));
    all.insert(all.end(), ids.begin(), ids.end());
    if (end == std::string_view::npos) return all;
    text.remove_prefix(end + 1);
  }
}

namespace {

std::string text_of(std::span<const int32_t> ids, const text::Tokeniser& tokeniser) {
  std::string all;
  for (size_t i = 0; i < ids.size();) {
    const auto line = std::find(ids.begin() + static_cast<int64_t>(i) + 1, ids.end(), text::kStart);
    const auto end = static_cast<size_t>(line - ids.begin());
    if (i > 0) all += '\n';
    all += tokeniser.decode(ids.subspan(i + 1, end - i - 1));  // without its <s>
    i = end;
  }
  return all;
}

}  // namespace

std::string continuation(std::span<const int32_t> beginning, std::span<const int32_t> more,
                         const text::Tokeniser& tokeniser) {
  std::vector<int32_t> both(beginning.begin(), beginning.end());
  both.insert(both.end(), more.begin(), more.end());
  // Tokens are spelled differently at the beginning of a text: a word has no blank before it.
  const std::string before = text_of(beginning, tokeniser), all = text_of(both, tokeniser);
  return all.starts_with(before) ? all.substr(before.size()) : all;
}

}  // namespace heed::task
