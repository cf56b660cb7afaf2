#include "mechanism.h"

#include <omp.h>

#include <cmath>

#include "buffer.h"
#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/tensor/tape.h"

namespace heed::bench {

namespace {

using nlohmann::json;

// One size for all, so that rows can be compared: 8 sequences of 128 queries on 128 keys.
constexpr int64_t kBatch = 8, kLength = 128, kWidth = 128;
constexpr int64_t kSentences = 4;  // hierarchical: the sequences are sentences, this many per document
constexpr const char* kPrefix = "mechanism_";

attend::Options options_for(const attend::Entry& entry) {
  attend::Options o;
  o.query_width = o.key_width = o.hidden = kWidth;
  o.max_length = kLength;
  return attend::options_of(entry.name, o);
}

json json_of(const attend::Options& options) {
  json j;
  attend::each_option(options, [&](const char* name, const auto& field) { j[name] = field; });
  return j;
}

class MechanismCase final : public Contest {
 public:
  MechanismCase(const attend::Entry& entry, bool train)
      : name_(std::string(kPrefix) + entry.name + (train ? "_train" : "_fwd")),
        entry_(&entry),
        train_(train),
        options_(options_for(entry)),
        parts_(attend::resolve(options_)),
        parameters_(1),
        mechanism_(attend::make(parameters_, options_)),
        tape_({.recording = train, .training = train}),
        queries_(kBatch * kLength * kWidth),
        keys_(kBatch * kLength * kWidth) {
    fill_random(queries_, 1);
    fill_random(keys_, 2);
    for (int64_t row = 0; row < kBatch * kLength; ++row)
      documents_.push_back(static_cast<int32_t>(row % kLength / (kLength / 4)));
    for (int64_t b = 0; b < kBatch; ++b) lengths_.push_back(static_cast<int32_t>(kLength - 8 * b));
  }

  const std::string& name() const override { return name_; }
  bool wants_sgemm() const override { return false; }

  json describe() const override {
    return {{"case", name_},
            {"mechanism", entry_->name},
            {"options", json_of(options_)},
            {"train", train_},
            {"batch", kBatch},
            {"queries", kLength},
            {"keys", kLength},
            {"dim", kWidth},
            {"sentences", kSentences},
            {"asks", asks()},
            {"same_rows", same_rows()},
            {"tokens", kBatch * kLength},
            {"score", "mechanism"},
            {"flops", 0.0},
            {"lengths", masked() ? json(lengths_) : json()}};
  }

  void check(json& about) override {
    try {
      run();
    } catch (const Error& error) {
      about["error"] = error.what();
      return;
    }
    for (int64_t n = 0; n < context_.size(); ++n)
      if (!std::isfinite(context_.data()[n])) about["error"] = "the context is not finite";
  }

  std::vector<Contestant> contestants() override {
    return {{"heed", [this](int) { run(); }}};
  }

  bool dump(const std::string& directory) override {
    bool written = true;
    const auto write = [&](const std::string& name, const float* data, const std::vector<int64_t>& shape) {
      written &= write_npy(directory + "/" + name + ".npy", data, shape);
    };
    const std::vector<int64_t> rows = {kBatch, kLength, kWidth};
    write("queries", queries_.data(), rows);
    write("keys", keys_.data(), rows);
    for (const Parameter& p : parameters_) write("parameter_" + p.name, p.value.data(), p.shape);
    run();
    write("context", context_.data(), {context_.rows(), context_.cols()});
    if (!train_) return written;
    write("d_context", d_context_.data(), {context_.rows(), context_.cols()});
    // A gradient that never came is zero: keys of a random Synthesizer that stand for nothing but their number.
    const std::vector<float> none(static_cast<size_t>(keys_.size()), 0.0f);
    const auto gradient = [&](Tensor x) { return x.gradient() ? x.gradient() : none.data(); };
    if (query_rows_) write("d_queries", gradient(query_rows_), rows);
    write("d_keys", gradient(key_rows_), rows);
    for (const Parameter& p : parameters_)
      if (p.has_gradient) write("d_parameter_" + p.name, p.gradient.data(), p.shape);
    return written;
  }

 private:
  bool in_documents() const { return parts_.any(&attend::Entry::reads_documents); }
  bool masked() const { return parts_.has_region(attend::masked_entry); }
  bool same_rows() const { return parts_.any(&attend::Entry::same_rows); }
  bool asks() const { return !parts_.input->own_queries && !parts_.structure->own_queries; }

  /// Forward, and backward from a given gradient of the context to all parameters and inputs.
  void run() {
    tape_.reset();
    const Offsets sequences = tape_.even_offsets(kBatch, kLength);
    key_rows_ = tape_.input(keys_.data(), kBatch * kLength, kWidth, train_);
    attend::Memory memory{{key_rows_, sequences}};
    if (options_.value_width > 0) memory.values = key_rows_;
    if (in_documents()) memory.documents = documents_.data();
    if (masked()) memory.lengths = lengths_.data();
    if (parts_.structure->needs_sentences) memory.sentences = tape_.even_offsets(kBatch / kSentences, kSentences);

    attend::Queries queries;
    query_rows_ = {};
    if (asks()) {
      if (!same_rows()) query_rows_ = tape_.input(queries_.data(), kBatch * kLength, kWidth, train_);
      queries.rows = {same_rows() ? key_rows_ : query_rows_, sequences};
      if (in_documents()) queries.documents = documents_.data();
    }
    const attend::Request request{.guide_cost = parts_.time->guides};
    const attend::Attended attended = mechanism_->attend(queries, mechanism_->prepare(memory), {}, request);
    context_ = attended.context;
    if (!train_) return;

    if (d_context_.empty()) {
      d_context_ = Buffer(context_.size());
      fill_random(d_context_, 3);
    }
    parameters_.forget_gradients();
    tape_.seed_gradient(context_, d_context_.data());
    ones_.assign(static_cast<size_t>(kBatch * kLength * options_.heads), 1.0f);
    for (const Tensor& extra : {attended.guide_cost, attended.log_prob})
      if (extra) tape_.seed_gradient(extra, ones_.data());
    tape_.run();
  }

  std::string name_;
  const attend::Entry* entry_;
  bool train_;
  attend::Options options_;
  attend::Parts parts_;
  Parameters parameters_;
  std::unique_ptr<attend::Mechanism> mechanism_;
  Tape tape_;
  Buffer queries_, keys_, d_context_;
  std::vector<int32_t> documents_, lengths_;
  std::vector<float> ones_;
  Tensor key_rows_, query_rows_, context_;  // of the last run
};

}  // namespace

std::vector<std::string> mechanism_cases() {
  std::vector<std::string> names;
  for (const attend::Entry* entry : attend::all())
    for (const char* kind : {"_fwd", "_train"}) names.push_back(std::string(kPrefix) + entry->name + kind);
  return names;
}

std::unique_ptr<Contest> make_mechanism_case(const std::string& name) {
  for (const attend::Entry* entry : attend::all())
    for (bool train : {false, true})
      if (name == std::string(kPrefix) + entry->name + (train ? "_train" : "_fwd"))
        return std::make_unique<MechanismCase>(*entry, train);
  return nullptr;
}

}  // namespace heed::bench
