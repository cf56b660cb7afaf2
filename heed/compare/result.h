// What one run of a comparison gives, and the file that keeps it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/text/metric/metric.h"

namespace heed::compare {

/// Where a model looked while it answered one line.
struct Picture {
  std::string line;                         // the source as it was given
  std::vector<std::string> source;          // its tokens
  std::vector<std::string> rows;            // the output's tokens, or the numbers of pooled vectors
  std::string output, reference;            // texts
  std::vector<std::vector<float>> weights;  // [rows][source]

  bool operator==(const Picture&) const = default;
};

struct Result {
  std::string error = {};  // why the training failed; then nothing else is set

  std::string metric = {};  // validate.metric, but perplexity for "loss"
  std::string metric_name = {};
  std::vector<std::string> labels = {};  // that a metric of labels tells apart
  std::string label_separator = {};      // data.label_separator
  bool higher_is_better = true;
  double value = 0;  // of the metric, on the validation data
  double loss = 0;   // per prediction, on the validation data
  int64_t parameters = 0;
  int64_t updates = 0;
  double seconds = 0;                           // of training
  std::optional<double> training_speed = {};    // predictions (target tokens and ends, labels) per second
  std::optional<int64_t> training_memory = {};  // bytes: most activations and their gradients of an update
  std::optional<double> decoding_speed = {};    // validation lines per second, greedily
  std::optional<double> entropy = {};           // of the alignments, in bits: alignment.h
  std::optional<double> monotonicity = {};      // of the alignments, from 0 to 1
  std::vector<std::vector<double>> statistics =
      {};  // of the metric, for each validation line: heed/text/metric/metric.h
  std::optional<Picture> picture = {};
};

/// The metric of a result: one of heed/text/metric/all.h, or the perplexity.
std::unique_ptr<metric::Metric> metric_of(const Result& result);

file::Json to_json(const Result& result);

// In the folder of the run. A run is complete once its file exists.
inline constexpr const char* kResultFile = "result.json";
void save_result(const Result& result, const std::filesystem::path& folder);
/// None if the run is not complete. Throws Error, naming the file and what is wrong, if it is damaged.
std::optional<Result> load_result(const std::filesystem::path& folder);

}  // namespace heed::compare
