#include "heed/train/event_file.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>

#include "heed/base/error.h"

namespace heed::train {

namespace {

// ----------------------------------------------------------------------------------------------------------- protobuf
// A field is its number and kind, (number << 3 | kind), and its value: a varint (0), eight bytes (1), a length and that
// many bytes (2), or four bytes (5).

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

template <class T>
void put_little_endian(std::string& out, T bits) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(bits >> (8 * i));
}

void put_integer(std::string& out, uint32_t field, uint64_t value) {
  put_varint(out, field << 3 | 0);
  put_varint(out, value);
}

void put_double(std::string& out, uint32_t field, double value) {
  put_varint(out, field << 3 | 1);
  put_little_endian(out, std::bit_cast<uint64_t>(value));
}

void put_bytes(std::string& out, uint32_t field, std::string_view bytes) {
  put_varint(out, field << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}

void put_float(std::string& out, uint32_t field, float value) {
  put_varint(out, field << 3 | 5);
  put_little_endian(out, std::bit_cast<uint32_t>(value));
}

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

/// Event: 1 wall_time, 2 step, then what happened.
std::string event_at(int64_t step) {
  std::string event;
  put_double(event, 1, now());
  if (step != 0) put_integer(event, 2, static_cast<uint64_t>(step));
  return event;
}

// ----------------------------------------------------------------------------------------------------------- checksums

constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t n = 0; n < 256; ++n) {
    uint32_t crc = n;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0x82F63B78u : 0u);  // Castagnoli, reflected
    table[n] = crc;
  }
  return table;
}

/// TFRecord masks checksums, because a CRC of data that contains CRCs is weak.
uint32_t masked(uint32_t crc) { return std::rotr(crc, 15) + 0xA282EAD8u; }

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = crc_table();
  uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

EventFile::EventFile(const std::filesystem::path& folder, int64_t every) : every_(every) {
  // TensorBoard reads the files of a folder in the order of their names; two runs may start in the same second.
  std::error_code ignored;
  for (int64_t n = 0; path_.empty() || std::filesystem::exists(path_, ignored); ++n)
    path_ = folder / fmt::format("events.out.tfevents.{:010}.heed.{}.{}", static_cast<int64_t>(now()), getpid(), n);
}

void EventFile::write_record(const std::string& event) {
  std::string record;
  put_little_endian(record, static_cast<uint64_t>(event.size()));
  put_little_endian(record, masked(crc32c(record)));
  record += event;
  put_little_endian(record, masked(crc32c(event)));
  file_.write(record.data(), static_cast<std::streamsize>(record.size()));
  file_.flush();
  expect(file_.good(), ErrorKind::cannot_write, "'{}' could not be written; nothing more will be written to it",
         path_.string());
}

void EventFile::started(const Started& s) {
  file_.open(path_, std::ios::binary);
  std::string version = event_at(0);
  put_bytes(version, 3, "brain.Event:2");  // file_version
  write_record(version);
  if (s.resumed_from == 0) return;
  // session_log { status: START }: TensorBoard drops what an earlier run wrote from this step on.
  std::string start, event = event_at(s.resumed_from + 1);
  put_integer(start, 1, 1);
  put_bytes(event, 7, start);
  write_record(event);
}

void EventFile::write(int64_t step, const Scalars& scalars) {
  std::string summary;  // Summary: 1 value, repeated
  for (const auto& [tag, number] : scalars) {
    std::string value;  // Value: 1 tag, 2 simple_value
    put_bytes(value, 1, tag);
    put_float(value, 2, static_cast<float>(number));
    put_bytes(summary, 1, value);
  }
  std::string event = event_at(step);
  put_bytes(event, 5, summary);
  write_record(event);
}

void EventFile::stepped(const StepReport& r, const Progress& p) {
  if (r.step % every_ != 0) return;
  Scalars scalars = {{"train/loss", r.loss},
                     {"train/nll", r.nll},
                     {"train/token_accuracy", r.accuracy},
                     {"train/gradient_norm", r.norm},
                     {"train/learning_rate", r.rate},
                     {"train/tokens_per_second", p.tokens_per_second}};
  if (r.reward) scalars.emplace_back("train/reward", *r.reward);
  write(r.step, scalars);
}

void EventFile::validated(const Validated& v, const Progress&) {
  const Evaluation& e = v.evaluation;
  Scalars scalars = {
      {"valid/nll", e.nll}, {"valid/perplexity", e.perplexity}, {"valid/token_accuracy", e.token_accuracy}};
  if (e.bits_per_character > 0) scalars.emplace_back("valid/bits_per_character", e.bits_per_character);
  if (e.exact.count > 0) {
    scalars.emplace_back("valid/exact", e.exact.rate());
    scalars.emplace_back("valid/character_error_rate", e.characters.rate());
    if (e.task) scalars.emplace_back("valid/" + e.task->name, e.task->value);
  }
  write(v.step, scalars);
}

}  // namespace heed::train
