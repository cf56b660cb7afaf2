#include "heed/data/alignments.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <tuple>
#include <utility>

#include "heed/base/error.h"
#include "heed/data/lines.h"

namespace heed::data {

namespace {

/// One link, "3-5". False if it is something else.
bool read_link(std::string_view word, AlignmentPoint& link) {
  const char* const end = word.data() + word.size();
  const auto [dash, wrong] = std::from_chars(word.data(), end, link.source);
  if (wrong != std::errc() || dash == end || *dash != '-' || link.source < 0) return false;
  const auto [last, wrong_too] = std::from_chars(dash + 1, end, link.target);
  return wrong_too == std::errc() && last == end && link.target >= 0 && dash[1] != '-';
}

}  // namespace

void AlignmentLists::add(std::vector<AlignmentPoint> links) {
  const auto key = [](const AlignmentPoint& l) { return std::tuple(l.target, l.source); };
  std::sort(links.begin(), links.end(),
            [&](const AlignmentPoint& a, const AlignmentPoint& b) { return key(a) < key(b); });
  const auto same = [&](const AlignmentPoint& a, const AlignmentPoint& b) { return key(a) == key(b); };
  links.erase(std::unique(links.begin(), links.end(), same), links.end());
  links_.insert(links_.end(), links.begin(), links.end());
  offsets_.push_back(std::ssize(links_));
}

AlignmentFile::AlignmentFile(std::filesystem::path path) : path_(std::move(path)) {
  LineReader reader(path_);
  for (std::string line; reader.next(line);) {
    std::vector<AlignmentPoint> links;
    std::string_view rest = line;
    while (true) {
      rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
      if (rest.empty()) break;
      const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
      rest.remove_prefix(word.size());
      AlignmentPoint link{};
      expect(read_link(word, link), ErrorKind::data,
             "{}, line {}: '{}' is not a link; expected source-target, both from 0, such as 0-0 1-2", path_.string(),
             reader.number(), word);
      links.push_back(link);
    }
    lists_.add(std::move(links));
  }
}

std::span<const AlignmentPoint> AlignmentFile::checked(int64_t line, int64_t source, int64_t target,
                                                       std::string_view unit) const {
  const std::span<const AlignmentPoint> links = lists_[line - 1];
  for (const AlignmentPoint& link : links)
    expect(link.source < source && link.target < target, ErrorKind::data,
           "{}, line {}: the link {}-{} is outside its pair, which has {} and {} {}, numbered from 0: data.alignments "
           "must belong to this data, and data.alignments_count say what its numbers count",
           path_.string(), line, link.source, link.target, source, target, unit);
  return links;
}

std::vector<int32_t> words_of_tokens(std::span<const std::string> tokens) {
  std::vector<int32_t> words;
  int32_t word = -1;
  bool inside = false;
  for (const std::string& token : tokens) {
    const bool blank = token.find_first_not_of(' ') == std::string::npos;
    if (token.starts_with(' ') || blank) inside = false;
    if (!blank && !inside) ++word;
    if (!blank) inside = true;
    words.push_back(blank ? -1 : word);
  }
  return words;
}

std::vector<AlignmentPoint> points_of_tokens(std::span<const AlignmentPoint> of_words,
                                             std::span<const int32_t> source_words,
                                             std::span<const int32_t> target_words) {
  std::vector<AlignmentPoint> links;
  for (const AlignmentPoint& link : of_words)
    for (size_t t = 0; t < target_words.size(); ++t)
      for (size_t s = 0; target_words[t] == link.target && s < source_words.size(); ++s)
        if (source_words[s] == link.source) links.push_back({static_cast<int32_t>(s), static_cast<int32_t>(t)});
  return links;
}

}  // namespace heed::data
