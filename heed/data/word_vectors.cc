#include "heed/data/word_vectors.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/data/lines.h"
#include "heed/tensor/error.h"
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

/// visit(word, numbers as text) for each line with a vector, until it returns false.
template <class Visit>
void for_each_vector(LineReader& lines, const Visit& visit) {
  for (std::string line; lines.next(line);) {
    std::vector<std::string_view> fields = text::words_of(line);
    if (fields.empty() || (lines.number() == 1 && is_size_line(fields))) continue;
    const std::string_view word = fields.front();
    fields.erase(fields.begin());
    if (!visit(word, fields)) return;
  }
}

float number_at(const LineReader& lines, std::string_view text) {
  float value = 0;
  expect(is_number(text, value) && std::isfinite(value), ErrorKind::data,
         "{}: line {}: '{}' is no number; a line is a word and its vector, separated by blanks", lines.path().string(),
         lines.number(), text.substr(0, 40));
  return value;
}

}  // namespace

int64_t width_of_vectors(const std::filesystem::path& file) {
  LineReader lines(file);
  int64_t width = 0;
  for_each_vector(lines, [&](std::string_view, const std::vector<std::string_view>& numbers) {
    for (const std::string_view number : numbers) number_at(lines, number);
    width = std::ssize(numbers);
    return false;
  });
  expect(width > 0, ErrorKind::data, "{}: there are no vectors; a line is a word and its numbers, separated by blanks",
         file.string());
  return width;
}

int64_t read_word_vectors(const std::filesystem::path& file, const text::Tokeniser& tokens, int64_t width,
                          std::span<float> table) {
  expect(std::ssize(table) == tokens.size() * width, "word vectors: a table of {} numbers for {} tokens of width {}",
         table.size(), tokens.size(), width);
  std::unordered_map<std::string, int32_t> left;  // tokens not yet found
  for (int32_t id = text::kSpecials; id < tokens.size(); ++id) left.emplace(tokens.token(id), id);
  const auto wanted = std::ssize(left);
  LineReader lines(file);
  for_each_vector(lines, [&](std::string_view word, const std::vector<std::string_view>& numbers) {
    expect(std::ssize(numbers) == width, ErrorKind::data,
           "{}: line {} has a word and {} numbers, but {} are expected, as on the first line and in model.width",
           file.string(), lines.number(), numbers.size(), width);
    const auto found = left.find(std::string(word));
    if (found == left.end()) return true;
    float* row = table.data() + found->second * width;
    for (const std::string_view number : numbers) *row++ = number_at(lines, number);
    left.erase(found);
    return true;
  });
  return wanted - std::ssize(left);
}

}  // namespace heed::data
