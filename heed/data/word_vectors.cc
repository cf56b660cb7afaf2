#include "heed/data/word_vectors.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/base/error.h"
#include "heed/data/lines.h"
#include "heed/text/tokens.h"
#include "heed/text/words.h"

namespace heed::data {

namespace {

template <class Number>
bool is_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// "400000 100": how many words, and how wide.
bool is_size_line(const std::vector<std::string_view>& fields) {
  int64_t number = 0;
  return fields.size() == 2 && is_number(fields[0], number) && is_number(fields[1], number);
}

using Fields = std::vector<std::string_view>;

/// visit(fields) for each line with a vector, until it returns false.
template <class Visit>
void for_each_vector(LineReader& lines, const Visit& visit) {
  for (std::string line; lines.next(line);) {
    const Fields fields = text::words_of(line);
    if (fields.empty() || (lines.number() == 1 && is_size_line(fields))) continue;
    if (!visit(fields)) return;
  }
}

float number_at(const LineReader& lines, std::string_view text) {
  float value = 0;
  expect(is_number(text, value) && std::isfinite(value), ErrorKind::data,
         "{}: line {}: '{}' is no number; a line is a word and its vector, separated by blanks", lines.path().string(),
         lines.number(), text.substr(0, 40));
  return value;
}

/// How many of the last fields are numbers. The first is a word, even if it looks like a number.
int64_t numbers_at_end(const Fields& fields) {
  float value = 0;
  int64_t count = 0;
  while (count + 1 < std::ssize(fields) && is_number(fields[fields.size() - 1 - static_cast<size_t>(count)], value))
    ++count;
  return count;
}

/// The word before the last `width` fields, as it stands in the line.
std::string_view word_of(const LineReader& lines, const Fields& fields, int64_t width) {
  const int64_t parts = std::ssize(fields) - width;
  // More parts may be a word with blanks inside; but one that is a number belongs to a longer vector.
  const auto is_part = [](std::string_view field) {
    float value = 0;
    return !is_number(field, value);
  };
  const bool fits = parts == 1 || (parts > 1 && std::all_of(fields.begin() + 1, fields.begin() + parts, is_part));
  expect(fits, ErrorKind::data,
         "{}: line {} has a word and {} numbers, but {} are expected, as on the first lines and in model.width",
         lines.path().string(), lines.number(), fields.size() - 1, width);
  const std::string_view last = fields[static_cast<size_t>(parts - 1)];
  return {fields.front().data(), static_cast<size_t>(last.data() + last.size() - fields.front().data())};
}

}  // namespace

int64_t width_of_vectors(const std::filesystem::path& file) {
  constexpr int64_t kLooked = 100;
  LineReader lines(file);
  std::map<int64_t, int64_t> lines_of_width;
  int64_t looked = 0;
  for_each_vector(lines, [&](const Fields& fields) {
    const int64_t width = numbers_at_end(fields);
    if (width == 0 && looked == 0) number_at(lines, fields.back());  // this is no such file
    ++lines_of_width[width];
    return ++looked < kLooked;
  });
  const auto most = std::max_element(lines_of_width.begin(), lines_of_width.end(),
                                     [](const auto& a, const auto& b) {  // of equally many, the longer
                                       return std::pair(a.second, a.first) < std::pair(b.second, b.first);
                                     });
  expect(most != lines_of_width.end() && most->first > 0, ErrorKind::data,
         "{}: there are no vectors; a line is a word and its numbers, separated by blanks", file.string());
  return most->first;
}

WordVectors read_word_vectors(const std::filesystem::path& file, const text::Tokeniser& tokens, int64_t width,
                              std::span<float> table) {
  expect(std::ssize(table) == tokens.size() * width, "word vectors: a table of {} numbers for {} tokens of width {}",
         table.size(), tokens.size(), width);
  std::unordered_map<std::string, int32_t> left;  // tokens not yet found
  for (int32_t id = text::kSpecials; id < tokens.size(); ++id) left.emplace(tokens.token(id), id);
  WordVectors vectors;
  LineReader lines(file);
  for_each_vector(lines, [&](const Fields& fields) {
    const std::string word(word_of(lines, fields, width));
    if (std::ssize(fields) > width + 1 && vectors.with_blanks++ == 0) {
      vectors.line = lines.number();
      vectors.word = word;
    }
    const auto found = left.find(word);
    if (found == left.end()) return true;
    float* row = table.data() + found->second * width;
    for (auto number = fields.end() - width; number != fields.end(); ++number) *row++ = number_at(lines, *number);
    left.erase(found);
    ++vectors.found;
    return true;
  });
  return vectors;
}

}  // namespace heed::data
