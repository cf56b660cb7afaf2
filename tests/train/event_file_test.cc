// Event files are read back by a decoder of the test's own: checksums bit by bit, protobuf field by field.
#include "heed/train/event_file.h"

#include <cstring>
#include <map>

#include "tests/train/small_run.h"

namespace heed::train::test {
namespace {

/// CRC-32C by its definition: division by the polynomial 0x1EDC6F41, least significant bit first.
uint32_t slow_crc32c(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes)
    for (int bit = 0; bit < 8; ++bit) {
      const uint32_t in = (static_cast<uint32_t>(static_cast<unsigned char>(byte)) >> bit) & 1;
      const uint32_t out = crc & 1;
      crc >>= 1;
      if (in != out) crc ^= 0x82F63B78;  // the polynomial, mirrored
    }
  return crc ^ 0xFFFFFFFF;
}

template <class T>
T number_at(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.substr(at, sizeof value).data(), sizeof value);
  return value;
}

uint32_t unmasked(uint32_t masked) {
  const uint32_t rotated = masked - 0xA282EAD8u;
  return (rotated << 15) | (rotated >> 17);
}

std::vector<std::string> records_of(const std::string& file) {
  std::vector<std::string> records;
  for (size_t at = 0; at < file.size();) {
    const auto length = number_at<uint64_t>(file, at);
    EXPECT_EQ(unmasked(number_at<uint32_t>(file, at + 8)), slow_crc32c(std::string_view(file).substr(at, 8)));
    records.push_back(file.substr(at + 12, length));
    EXPECT_EQ(records.back().size(), length);
    EXPECT_EQ(unmasked(number_at<uint32_t>(file, at + 12 + length)), slow_crc32c(records.back()));
    at += 16 + length;
  }
  return records;
}

struct Field {
  uint32_t number, kind;
  uint64_t integer = 0;
  std::string bytes = {};
};

std::vector<Field> fields_of(std::string_view bytes) {
  std::vector<Field> fields;
  size_t at = 0;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.at(at++));
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.size()) {
    const uint64_t key = varint();
    Field f{static_cast<uint32_t>(key >> 3), static_cast<uint32_t>(key & 7)};
    if (f.kind == 0) {
      f.integer = varint();
    } else {
      const size_t length = f.kind == 1 ? 8 : f.kind == 5 ? 4 : f.kind == 2 ? varint() : 0;
      EXPECT_TRUE(f.kind == 1 || f.kind == 2 || f.kind == 5) << f.kind;
      f.bytes = std::string(bytes.substr(at, length));
      EXPECT_EQ(f.bytes.size(), length);
      at += length;
    }
    fields.push_back(f);
  }
  return fields;
}

struct Event {
  double time = 0;
  int64_t step = 0;
  std::string version;
  std::string session;
  std::map<std::string, float> values;
};

Event event_of(const std::string& record) {
  Event e;
  for (const Field& f : fields_of(record)) {
    if (f.number == 1) e.time = number_at<double>(f.bytes, 0);
    if (f.number == 2) e.step = static_cast<int64_t>(f.integer);
    if (f.number == 3) e.version = f.bytes;
    if (f.number == 7) e.session = f.bytes;
    if (f.number != 5) continue;
    for (const Field& value : fields_of(f.bytes)) {
      EXPECT_EQ(value.number, 1u);
      std::string tag;
      for (const Field& part : fields_of(value.bytes)) {
        if (part.number == 1) tag = part.bytes;
        if (part.number == 2) e.values[tag] = number_at<float>(part.bytes, 0);
      }
    }
  }
  return e;
}

class EventFileTest : public testing::Test {
 protected:
  std::vector<Event> newest_events() const {
    std::string newest;
    for (const std::string& name : heed::test::names_in(folder_ / "run"))
      if (name.starts_with("events.out.tfevents.") && name > newest) newest = name;
    std::vector<Event> events;
    for (const std::string& record : records_of(heed::test::slurp(folder_ / "run" / newest)))
      events.push_back(event_of(record));
    return events;
  }
  TemporaryFolder folder_;
};

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);            // the check value of the catalogue of CRCs
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);  // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43u);
  EXPECT_EQ(slow_crc32c("123456789"), 0xE3069283u);
}

TEST_F(EventFileTest, HoldsTheCurves) {
  Recorder seen;
  fs::create_directories(folder_ / "run");
  EventFile events(folder_ / "run", 4);
  run_session(small_recipe(folder_ / "run"), {.observers = {&seen, &events}});
  const std::vector<Event> all = newest_events();
  ASSERT_EQ(all.size(), 1u + 6u + 4u);
  EXPECT_EQ(all[0].version, "brain.Event:2");
  size_t validations = 0;
  for (size_t i = 1; i < all.size(); ++i) {
    EXPECT_GT(all[i].time, 1.6e9);
    if (all[i].values.contains("valid/nll")) {
      const Validated& v = seen.validations.at(validations++);
      EXPECT_EQ(all[i].step, v.step);
      EXPECT_EQ(all[i].values.at("valid/nll"), static_cast<float>(v.evaluation.nll));
      EXPECT_EQ(all[i].values.at("valid/exact"), static_cast<float>(v.evaluation.exact.rate()));
    } else {
      EXPECT_EQ(all[i].step % 4, 0);
      const StepReport& r = seen.steps.at(static_cast<size_t>(all[i].step) - 1);
      EXPECT_EQ(all[i].values.at("train/loss"), static_cast<float>(r.loss));
      EXPECT_EQ(all[i].values.at("train/learning_rate"), r.rate);
    }
  }
  EXPECT_EQ(validations, 4u);
}

TEST_F(EventFileTest, ASecondRunTakesBackWhatItDoesAgain) {
  Recorder seen;
  run_until(small_recipe(folder_ / "run"), seen, 200);
  fs::create_directories(folder_ / "run");
  EventFile events(folder_ / "run", 1);
  events.started({.folder = "", .model = "", .resumed_from = 300});
  const std::vector<Event> all = newest_events();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].step, 301);
  EXPECT_EQ(all[1].session, std::string("\x08\x01"));  // SessionLog { status: START }
}

TEST_F(EventFileTest, EveryMetricHasItsOwnCurve) {
  const std::map<std::string, std::string> tags = {
      {"bleu", "valid/BLEU"}, {"chrf", "valid/chrF2"}, {"exact", "valid/exact match"}};
  for (const auto& [name, tag] : tags) {
    fs::remove_all(folder_ / "run");
    fs::create_directories(folder_ / "run");
    Recorder seen;
    EventFile events(folder_ / "run", 100);
    run_session(small_recipe(folder_ / "run", {"validate.metric=" + name, "stop.steps=6"}),
                {.observers = {&seen, &events}});
    const Event last = newest_events().back();
    ASSERT_TRUE(last.values.contains(tag)) << name;
    EXPECT_EQ(last.values.at(tag), static_cast<float>(seen.validations.back().value));
    EXPECT_EQ(last.values.size(), 6u);
  }
}

}  // namespace
}  // namespace heed::train::test
