#include "heed/data/source.h"

#include "heed/base/error.h"

namespace heed::data {

namespace {

template <class T>
std::span<const T> at(const Ragged<T>& part, int64_t i) {
  return part.size() == 0 ? std::span<const T>() : part[i];
}

/// A part that no source had up to now, of which there are `before`, gets empty lists for them.
template <class T>
void add_part(Ragged<T>& part, std::span<const T> list, int64_t before) {
  if (part.size() == 0 && list.empty()) return;
  while (part.size() < before) part.add({});
  part.add(list);
}

template <class T>
Ragged<T> packed(const Ragged<T>& part, std::span<const int64_t> numbers) {
  Ragged<T> some;
  if (part.size() == 0) return some;
  int64_t values = 0;
  for (const int64_t i : numbers) values += part.length(i);
  some.reserve(std::ssize(numbers), values);
  for (const int64_t i : numbers) some.add(part[i]);
  return some;
}

}  // namespace

Sources Sources::of(std::span<const int32_t> text) {
  Sources one;
  one.add(text);
  return one;
}

Source Sources::operator[](int64_t i) const {
  return {.tokens = tokens[i],
          .sentences = at(sentences, i),
          .second = at(second, i),
          .pixels = at(pixels, i),
          .numbers = at(numbers, i),
          .copies = at(copies, i)};
}

void Sources::add(const Source& source) {
  const int64_t before = size();
  tokens.add(source.tokens);
  add_part(sentences, source.sentences, before);
  add_part(second, source.second, before);
  add_part(pixels, source.pixels, before);
  add_part(numbers, source.numbers, before);
  add_part(copies, source.copies, before);
}

Sources Sources::pack(std::span<const int64_t> which) const {
  for (const int64_t i : which) expect(i >= 0 && i < size(), "there is no example {}: there are only {}", i, size());
  Sources some;
  some.tokens = packed(tokens, which);
  some.sentences = packed(sentences, which);
  some.second = packed(second, which);
  some.pixels = packed(pixels, which);
  some.numbers = packed(numbers, which);
  some.copies = packed(copies, which);
  for (const Sources& other : others) some.others.push_back(other.pack(which));
  return some;
}

}  // namespace heed::data
