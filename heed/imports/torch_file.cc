#include "heed/imports/torch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "heed/base/dtype.h"
#include "heed/base/error.h"
#include "heed/imports/bytes_reader.h"

namespace heed::imports {

namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view kZip = "PK\x03\x04", kCentral = "PK\x01\x02", kEnd = "PK\x05\x06";
/// The first pickle of an old file, as it begins: a number that marks the format.
constexpr unsigned char kOld[] = {0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};

std::string_view text_of_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct TorchType {
  const char* storage;
  Dtype type;
};
constexpr TorchType kTorchTypes[] = {{"torch FloatStorage", Dtype::f32},
                                     {"torch HalfStorage", Dtype::f16},
                                     {"torch BFloat16Storage", Dtype::bf16},
                                     {"torch DoubleStorage", Dtype::f64}};

/// A number of a pickle that counts something.
uint64_t count_of(const PickleValue& value, const std::string& file, const char* what) {
  expect(value.is(Kind::integer) && value.integer >= 0, ErrorKind::file, "'{}': {} of a tensor is no count", file,
         what);
  return static_cast<uint64_t>(value.integer);
}

}  // namespace

bool is_torch_file(std::span<const std::byte> first) {
  return text_of_bytes(first).starts_with(kZip) ||
         (first.size() >= sizeof kOld && std::memcmp(first.data(), kOld, sizeof kOld) == 0);
}

TorchFile::TorchFile(std::shared_ptr<const std::vector<std::byte>> bytes, std::string file)
    : file_(std::move(file)), bytes_(std::move(bytes)) {
  expect(is_torch_file(*bytes_), ErrorKind::file, "'{}' is no file of torch.save()", file_);
  if (text_of_bytes(*bytes_).starts_with(kZip))
    read_zip();
  else
    read_old();
}

/// The mark, the version, facts about the machine, the objects, the keys of the storages; then of each storage its
/// number of elements (int64) and the elements. How many bytes an element has stands in the objects.
void TorchFile::read_old() {
  BytesReader from(*bytes_, file_);
  Pickle(from, file_);
  const Pickle version(from, file_), machine(from, file_);
  expect(version.root().integer == 1001, ErrorKind::file, "'{}' has the version {} of torch.save(), 1001 is known",
         file_, version.root().integer);
  const PickleValue* little = machine.root().find("little_endian");
  expect(!little || little->integer == 1, ErrorKind::file, "'{}' was written on a big-endian machine", file_);
  pickle_ = std::make_shared<const Pickle>(from, file_);
  const Pickle keys(from, file_);
  expect(keys.root().is(Kind::list), ErrorKind::file, "'{}' is damaged: it has no list of storages", file_);
  std::map<std::string, uint64_t, std::less<>> width;  // of an element of each storage
  pickle_->each_value([&](const PickleValue& value) {
    if (!value.is(Kind::persistent) || !value.items[0]->is(Kind::list) || value.items[0]->items.size() < 3) return;
    const auto& id = value.items[0]->items;
    for (const TorchType& type : kTorchTypes)
      if (id[1]->text == type.storage) width[id[2]->text] = bytes_of(type.type);
  });
  for (const PickleValue* key : keys.root().items) {
    const auto count = from.number<uint64_t>("the size of a storage");
    const auto found = width.find(key->text);
    expect(found != width.end(), ErrorKind::file,
           "'{}': the storage '{}' holds other numbers than float64, float32, float16 and bfloat16", file_, key->text);
    expect(count <= from.left() / found->second, ErrorKind::file,
           "'{}' is cut off or damaged: the storage '{}' should have {} numbers", file_, key->text, count);
    const size_t begin = from.at();
    from.take(count * found->second, "a storage");
    storages_.push_back({key->text, begin, static_cast<size_t>(count * found->second)});
  }
}

/// NAME/data.pkl, and NAME/data/KEY for each storage, all stored as they are.
void TorchFile::read_zip() {
  constexpr size_t kEndSize = 22, kCentralSize = 46, kLocalSize = 30;
  const std::string_view all = text_of_bytes(*bytes_);
  const size_t end = all.rfind(kEnd);
  expect(end != all.npos && all.size() - end >= kEndSize, ErrorKind::file, "'{}' is cut off: it has no end", file_);
  const auto number = [&](size_t at, size_t size) {
    expect(at <= all.size() && size <= all.size() - at, ErrorKind::file, "'{}' is cut off or damaged", file_);
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) value |= uint64_t{static_cast<unsigned char>(all[at + i])} << (8 * i);
    return static_cast<size_t>(value);
  };
  std::optional<Storage> objects;
  size_t at = number(end + 16, 4);
  for (size_t left = number(end + 10, 2); left > 0; --left) {
    expect(at <= all.size() && all.substr(at, 4) == kCentral, ErrorKind::file,
           "'{}' is damaged: its list of files ends early", file_);
    const size_t size = number(at + 20, 4), length = number(at + 28, 2), local = number(at + 42, 4);
    const bool stored = number(at + 10, 2) == 0 && number(at + 24, 4) == size;
    expect(at + kCentralSize + length <= all.size(), ErrorKind::file, "'{}' is cut off or damaged", file_);
    const std::string name(all.substr(at + kCentralSize, length));
    const size_t begin = local + kLocalSize + number(local + 26, 2) + number(local + 28, 2);
    expect(begin <= all.size() && size <= all.size() - begin, ErrorKind::file,
           "'{}' is cut off or damaged: '{}' should have {} bytes", file_, name, size);
    expect(stored, ErrorKind::file, "'{}': '{}' is compressed, which torch.save() never does", file_, name);
    const size_t slash = name.find('/');
    const std::string inside = slash == name.npos ? name : name.substr(slash + 1);
    if (inside == "data.pkl") objects = Storage{inside, begin, size};
    if (inside.starts_with("data/")) storages_.push_back({inside.substr(5), begin, size});
    if (inside == "byteorder")
      expect(all.substr(begin, size) == "little", ErrorKind::file, "'{}' is of a big-endian machine", file_);
    at += kCentralSize + length + number(at + 30, 2) + number(at + 32, 2);
  }
  expect(objects.has_value(), ErrorKind::file, "'{}' has no data.pkl: it is another archive", file_);
  BytesReader from(std::span<const std::byte>(*bytes_).subspan(objects->begin, objects->size), file_);
  pickle_ = std::make_shared<const Pickle>(from, file_);
}

const TorchFile::Storage& TorchFile::storage(const std::string& key) const {
  const auto found = std::ranges::find_if(storages_, [&](const Storage& s) { return s.key == key; });
  expect(found != storages_.end(), ErrorKind::file, "'{}' has no storage '{}'", file_, key);
  return *found;
}

std::optional<ForeignTensor> TorchFile::tensor(const PickleValue& value) const {
  const PickleValue* made_of = &value;
  if (value.is_made_by("torch._utils _rebuild_parameter") || value.is_made_by("torch.nn.parameter Parameter")) {
    const PickleValue& given = *value.items.at(1);
    if (given.items.empty()) return {};
    made_of = given.items[0];
  }
  if (!made_of->is_made_by("torch._utils _rebuild_tensor") && !made_of->is_made_by("torch._utils _rebuild_tensor_v2"))
    return {};
  const std::vector<const PickleValue*>& with = made_of->items.at(1)->items;
  const bool whole = with.size() >= 4 && with[0]->is(Kind::persistent) && with[0]->items[0]->is(Kind::list) &&
                     with[0]->items[0]->items.size() >= 3 && with[2]->is(Kind::list) && with[3]->is(Kind::list) &&
                     with[2]->items.size() == with[3]->items.size();
  expect(whole, ErrorKind::file, "'{}' is damaged: a tensor has no storage, size and stride", file_);
  const std::vector<const PickleValue*>& id = with[0]->items[0]->items;
  const auto* type = std::ranges::find_if(kTorchTypes, [&](const TorchType& t) { return id[1]->text == t.storage; });
  expect(type != std::end(kTorchTypes), ErrorKind::file,
         "'{}': a tensor holds '{}', but float64, float32, float16 and bfloat16 are known", file_, id[1]->text);
  const Storage& from = storage(id[2]->text);
  const uint64_t first = count_of(*with[1], file_, "the beginning"), each = bytes_of(type->type);
  ForeignTensor made;
  uint64_t count = 1;
  for (size_t d = 0; d < with[2]->items.size(); ++d) {
    made.shape.push_back(static_cast<int64_t>(count_of(*with[2]->items[d], file_, "the size")));
    expect(!__builtin_mul_overflow(count, static_cast<uint64_t>(made.shape.back()), &count), ErrorKind::file,
           "'{}': a tensor is too large for any memory", file_);
  }
  uint64_t expected = 1;  // what stands behind one another
  for (size_t d = made.shape.size(); d-- > 0; expected *= static_cast<uint64_t>(made.shape[d]))
    expect(made.shape[d] == 1 || count_of(*with[3]->items[d], file_, "the stride") == expected, ErrorKind::file,
           "'{}': a tensor's numbers do not stand one behind the other: save it with .contiguous()", file_);
  const uint64_t there = from.size / each;
  expect(count <= there && first <= there - count, ErrorKind::file,
         "'{}' is damaged: a tensor of {} numbers from {} on is not in its storage of {}", file_, count, first, there);
  made.numbers = [bytes = bytes_, begin = from.begin + first * each, size = count * each, count, type = type->type] {
    std::vector<float> numbers(count);
    read_numbers(type, std::span<const std::byte>(*bytes).subspan(begin, size), numbers);
    return numbers;
  };
  return made;
}

void TorchFile::add_all(ForeignTensors& to, const PickleValue& dictionary, const std::string& prefix) const {
  dictionary.each_pair([&](const PickleValue& name, const PickleValue& value) {
    if (!name.is(Kind::text)) return;
    if (auto found = tensor(value)) to.add(prefix + name.text, std::move(*found));
  });
}

}  // namespace heed::imports
