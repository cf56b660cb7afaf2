// heed-bench-predict: searches, timed. `make bench-predict` drives it through bench/predict.py, which adds the peers.
//
// Requests are JSON lines on standard input, replies on standard output:
//   {"op": "open", "model": FOLDER, "sources": FILE, "precision": NAME, "folder": FOLDER}
//       weights in memory: float32 if it is not said; with a folder, writes what the peers need into it
//   {"op": "run", "threads": N, "beam": K, "outputs": B}      seconds for all sources; their tokens where asked for
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "bench/json_lines.h"
#include "heed/base/error.h"
#include "heed/checkpoint/safetensors.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/checkpoint/weights.h"
#include "heed/kernels/isa.h"
#include "heed/model/search/batches.h"
#include "heed/text/tokeniser.h"
#include "heed/text/tokens.h"

namespace heed::bench {
namespace {

using nlohmann::json;

constexpr int64_t kBatch = 32;  // sentences, which the threads share
constexpr int64_t kAnyLength = int64_t{1} << 40;
constexpr int64_t kLongest = 100;  // steps

class Searching {
 public:
  Searching(const std::string& folder, const std::string& file, const std::string& precision)
      : trained_(trained::load_to_run(folder, "best", precision)) {
    std::ifstream in(file);
    expect(in.is_open(), "cannot read '{}'", file);
    for (std::string line; std::getline(in, line);) ids_.push_back(trained_.vocabularies.source->encode(line));
    cut();
  }

  void write(const std::filesystem::path& folder) const {
    const model::Options& m = trained_.description.model;
    expect(m.encoder_kind() == "transformer" && m.decoder_kind() == "transformer" && m.positions == "sinusoidal" &&
               m.activation == "relu",
           "the peers know Transformers with sin-cos positions and relu only");
    std::ofstream(folder / "options.json") << json{{"kind", m.kind},
                                                   {"pre_norm", m.norm == "pre"},
                                                   {"heads", m.attention.heads},
                                                   {"encoder_layers", m.encoder_layers},
                                                   {"decoder_layers", m.decoder_layers},
                                                   {"longest", kLongest}};
    std::ofstream(folder / "sources.json") << json{{"ids", ids_}, {"batches", batches_}};
    std::ofstream(folder / "source.vocab") << trained_.vocabularies.source->contents();
    std::ofstream(folder / "target.vocab") << trained_.vocabularies.target->contents();
    file::write_safetensors(folder / "weights.safetensors", file::tensors_of(*trained_.parameters));
  }

  json run(int threads, int64_t beam, bool outputs) {
    omp_set_num_threads(threads);
    std::vector<std::vector<int32_t>> said(ids_.size());
    const auto begin = std::chrono::steady_clock::now();
    for (const std::vector<size_t>& batch : batches_) {
      data::Sources sources;
      for (const size_t s : batch) sources.add(ids_[s]);
      const auto found =
          search::search_all(*trained_.model->generator(), tapes_, {.sources = sources},
                             {.start = text::kStart, .end = text::kEnd, .longest = kLongest, .beam = beam},
                             {.tokens = kAnyLength, .sentences = (kBatch + threads - 1) / threads});
      for (size_t i = 0; i < batch.size(); ++i) said[batch[i]] = found[i].best().tokens;
    }
    json reply = {{"seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()},
                  {"sentences", ids_.size()}};
    if (outputs) reply["outputs"] = said;
    return reply;
  }

  /// In memory.
  int64_t weight_bytes() const {
    size_t bytes = 0;
    for (const Parameter& p : *trained_.parameters) bytes += p.value.bytes();
    return static_cast<int64_t>(bytes);
  }
  int64_t parameters() const { return trained_.parameters->count(); }

 private:
  /// Batches of like lengths, the longest first.
  void cut() {
    std::vector<size_t> order(ids_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ids_[a].size() > ids_[b].size(); });
    for (size_t first = 0; first < order.size(); first += kBatch)
      batches_.emplace_back(order.begin() + static_cast<int64_t>(first),
                            order.begin() + static_cast<int64_t>(std::min(first + kBatch, order.size())));
  }

  trained::TrainedModel trained_;
  std::vector<std::vector<int32_t>> ids_;
  std::vector<std::vector<size_t>> batches_;
  search::TapePool tapes_;
};

json answer(const json& request, std::optional<Searching>& searching) {
  const std::string op = request.at("op");
  if (op == "hello") return {{"isa", kernels::isa()}};
  if (op == "open") {
    searching.emplace(request.at("model").get<std::string>(), request.at("sources").get<std::string>(),
                      request.value("precision", "float32"));
    const int64_t bytes = searching->weight_bytes();  // before anything reads the numbers
    if (request.contains("folder")) searching->write(request.at("folder").get<std::string>());
    return {{"parameters", searching->parameters()}, {"weight_bytes", bytes}};
  }
  expect(searching.has_value(), "nothing is open");
  expect(op == "run", "there is no op '{}'", op);
  return searching->run(request.at("threads"), request.at("beam"), request.value("outputs", false));
}

}  // namespace
}  // namespace heed::bench

int main() {
  std::optional<heed::bench::Searching> searching;
  heed::bench::reply_to_lines([&](const nlohmann::json& request) { return heed::bench::answer(request, searching); });
  return 0;
}
