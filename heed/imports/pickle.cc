#include "heed/imports/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/text/utf8.h"

namespace heed::imports {

using Kind = PickleValue::Kind;

bool PickleValue::is_made_by(std::string_view global) const {
  return kind == Kind::object && !items.empty() && items[0]->kind == Kind::global && items[0]->text == global;
}

std::vector<const PickleValue*> PickleValue::parts() const {
  if (kind == Kind::dictionary) return {this};
  std::vector<const PickleValue*> all;
  if (kind == Kind::object)
    for (const PickleValue* item : items)
      if (item->kind == Kind::dictionary) all.push_back(item);
  return all;
}

const PickleValue* PickleValue::find(std::string_view key) const {
  const PickleValue* found = nullptr;
  each_pair([&](const PickleValue& name, const PickleValue& value) {
    if (name.kind == Kind::text && name.text == key) found = &value;
  });
  return found;
}

/// The machine of the format: a stack, marks in it, and a memory of values.
class PickleReader {
 public:
  PickleReader(Pickle& pickle, BytesReader& from, const std::string& file)
      : pickle_(pickle), from_(from), file_(file) {}

  void run() {
    while (step(from_.number<uint8_t>("an instruction"))) {
    }
    expect(stack_.size() == 1 && marks_.empty(), ErrorKind::file, "'{}' is damaged: its pickle ends with {} values",
           file_, stack_.size());
    pickle_.root_ = stack_.back();
  }

 private:
  using Value = PickleValue*;

  Value make(PickleValue value) {
    constexpr size_t kMost = 20'000'000;
    expect(pickle_.values_.size() < kMost, ErrorKind::file, "'{}': its pickle has more than {} values", file_, kMost);
    pickle_.values_.push_back(std::move(value));
    return &pickle_.values_.back();
  }
  void push(PickleValue value) { stack_.push_back(make(std::move(value))); }
  void push_integer(int64_t number) { push({.kind = Kind::integer, .integer = number}); }

  /// None of a part that a mark keeps apart.
  Value pop() {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    expect(stack_.size() > floor, ErrorKind::file, "'{}' is damaged: its pickle takes a value where there is none",
           file_);
    const Value value = stack_.back();
    stack_.pop_back();
    return value;
  }
  Value top() {
    const Value value = pop();
    stack_.push_back(value);
    return value;
  }
  std::vector<const PickleValue*> pop_to_mark() {
    expect(!marks_.empty(), ErrorKind::file, "'{}' is damaged: its pickle has no mark", file_);
    std::vector<const PickleValue*> all(stack_.begin() + static_cast<ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return all;
  }
  void push_tuple(size_t count) {
    PickleValue tuple{.kind = Kind::list};
    for (size_t i = 0; i < count; ++i) tuple.items.push_back(pop());
    std::ranges::reverse(tuple.items);
    push(std::move(tuple));
  }
  /// What belongs to a list or a dictionary. An object takes it as a dictionary or a list of its own.
  void add(std::vector<const PickleValue*> items, Kind kind) {
    Value to = top();
    if (to->kind == Kind::object) {
      const Value part = make({.kind = kind});
      to->items.push_back(part);
      to = part;
    }
    expect(to->kind == kind, ErrorKind::file, "'{}' is damaged: its pickle adds to what is no {}", file_,
           kind == Kind::list ? "list" : "dictionary");
    expect(kind == Kind::list || items.size() % 2 == 0, ErrorKind::file, "'{}' is damaged: a key has no value", file_);
    to->items.insert(to->items.end(), items.begin(), items.end());
  }
  std::string line(const char* what) {
    std::string text;
    for (char c; (c = static_cast<char>(from_.number<uint8_t>(what))) != '\n';) text += c;
    return checked(std::move(text), what);
  }
  std::string checked(std::string text, const char* what) const {
    expect(text::utf8_fault(text) == std::string_view::npos, ErrorKind::file, "'{}': {} is not UTF-8", file_, what);
    return text;
  }
  void push_text(uint64_t length) {
    push({.kind = Kind::text, .text = checked(from_.text(length, "a text"), "a text")});
  }
  void push_bytes(uint64_t length) { push({.kind = Kind::text, .text = from_.text(length, "bytes")}); }
  /// Little-endian, with a sign; more than 8 bytes only if they add nothing, or as 0: numbers that mark a format.
  void push_long(uint64_t length) {
    const auto bytes = from_.take(length, "a number");
    uint64_t number = 0;
    for (size_t i = 0; i < std::min<size_t>(bytes.size(), 8); ++i) number |= static_cast<uint64_t>(bytes[i]) << (8 * i);
    if (!bytes.empty() && bytes.size() < 8 && (static_cast<uint8_t>(bytes.back()) & 0x80) != 0)
      number |= ~uint64_t{0} << (8 * bytes.size());
    push_integer(static_cast<int64_t>(number));
  }
  void remember(uint64_t place) { memory_[place] = top(); }
  void recall(uint64_t place) {
    const auto found = memory_.find(place);
    expect(found != memory_.end(), ErrorKind::file, "'{}' is damaged: its pickle recalls what it never stored", file_);
    stack_.push_back(found->second);
  }
  void call() {
    const Value with = pop(), callee = pop();
    push({.kind = Kind::object, .items = {callee, with}});
  }

  /// False at the end.
  bool step(uint8_t code);

  Pickle& pickle_;
  BytesReader& from_;
  const std::string& file_;
  std::vector<Value> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, Value> memory_;
};

bool PickleReader::step(uint8_t code) {
  switch (code) {
    case 0x80:
      from_.number<uint8_t>("the protocol");
      return true;
    case 0x95:
      from_.number<uint64_t>("a frame");
      return true;
    case '.':
      return false;
    case '(':
      marks_.push_back(stack_.size());
      return true;
    case '0':
      pop();
      return true;
    case 'N':
      push({});
      return true;
    case 0x88:
      push({.kind = Kind::boolean, .integer = 1});
      return true;
    case 0x89:
      push({.kind = Kind::boolean});
      return true;
    case 'K':
      push_integer(from_.number<uint8_t>("a number"));
      return true;
    case 'M':
      push_integer(from_.number<uint16_t>("a number"));
      return true;
    case 'J':
      push_integer(from_.number<int32_t>("a number"));
      return true;
    case 0x8a:
      push_long(from_.number<uint8_t>("a number"));
      return true;
    case 0x8b:
      push_long(from_.number<uint32_t>("a number"));
      return true;
    case 'G': {  // big-endian
      const auto bytes = from_.take(8, "a number");
      uint64_t bits = 0;
      for (const std::byte byte : bytes) bits = bits << 8 | static_cast<uint8_t>(byte);
      push({.kind = Kind::real, .real = std::bit_cast<double>(bits)});
      return true;
    }
    case 'X':
      push_text(from_.number<uint32_t>("a text"));
      return true;
    case 0x8c:
      push_text(from_.number<uint8_t>("a text"));
      return true;
    case 0x8d:
      push_text(from_.number<uint64_t>("a text"));
      return true;
    case 'U':
    case 'C':
      push_bytes(from_.number<uint8_t>("bytes"));
      return true;
    case 'T':
    case 'B':
      push_bytes(from_.number<uint32_t>("bytes"));
      return true;
    case ']':
    case ')':
    case 0x8f:
      push({.kind = Kind::list});
      return true;
    case '}':
      push({.kind = Kind::dictionary});
      return true;
    case 0x85:
      push_tuple(1);
      return true;
    case 0x86:
      push_tuple(2);
      return true;
    case 0x87:
      push_tuple(3);
      return true;
    case 't':
    case 'l':
    case 0x91:
      push({.kind = Kind::list, .items = pop_to_mark()});
      return true;
    case 'd': {
      const auto items = pop_to_mark();
      push({.kind = Kind::dictionary});
      add(items, Kind::dictionary);
      return true;
    }
    case 'a': {
      const Value item = pop();
      add({item}, Kind::list);
      return true;
    }
    case 'e':
    case 0x90:
      add(pop_to_mark(), Kind::list);
      return true;
    case 's': {
      const Value value = pop(), key = pop();
      add({key, value}, Kind::dictionary);
      return true;
    }
    case 'u':
      add(pop_to_mark(), Kind::dictionary);
      return true;
    case 'q':
      remember(from_.number<uint8_t>("a place"));
      return true;
    case 'r':
      remember(from_.number<uint32_t>("a place"));
      return true;
    case 0x94:
      remember(memory_.size());
      return true;
    case 'h':
      recall(from_.number<uint8_t>("a place"));
      return true;
    case 'j':
      recall(from_.number<uint32_t>("a place"));
      return true;
    case 'c': {
      const std::string module = line("a name");
      push({.kind = Kind::global, .text = module + " " + line("a name")});
      return true;
    }
    case 0x93: {
      const Value name = pop(), module = pop();
      push({.kind = Kind::global, .text = module->text + " " + name->text});
      return true;
    }
    case 'R':
    case 0x81:
      call();
      return true;
    case 'b': {
      const Value state = pop(), to = top();
      expect(to->kind == Kind::object, ErrorKind::file, "'{}' is damaged: its pickle gives a state to no object",
             file_);
      to->items.push_back(state);
      return true;
    }
    case 'Q': {
      const Value id = pop();
      push({.kind = Kind::persistent, .items = {id}});
      return true;
    }
    default:
      throw Error(ErrorKind::file,
                  fmt::format("'{}': its pickle has the instruction 0x{:02x}, which is no data: only numbers, texts, "
                              "lists, dictionaries and tensors are read",
                              file_, code));
  }
}

Pickle::Pickle(BytesReader& from, std::string file) { PickleReader(*this, from, file).run(); }

}  // namespace heed::imports
