// heed-bench-generate: how fast models of running text write. `make bench-generate` drives it through
// bench/generate.py.
//
// Requests are JSON lines on standard input, replies on standard output:
//   {"op": "open", "model": FOLDER, "folder": FOLDER}     writes what the peers need
//   {"op": "run", "threads": N, "tokens": N}              seconds for one text of so many tokens, the likeliest each
#include <omp.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/json_lines.h"
#include "heed/base/error.h"
#include "heed/checkpoint/safetensors.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/checkpoint/weights.h"
#include "heed/kernels/isa.h"
#include "heed/model/search/search.h"
#include "heed/tensor/tape.h"
#include "heed/text/tokens.h"

namespace heed::bench {
namespace {

using nlohmann::json;

class Writing {
 public:
  explicit Writing(const std::string& folder) : trained_(trained::load_model(folder, "best", &float32_weights)) {
    expect(trained_.model->generator() != nullptr && trained_.description.model.kind == "transformer",
           "'{}' is not a Transformer of running text", folder);
  }

  void write(const std::filesystem::path& folder) const {
    const model::Options& m = trained_.description.model;
    std::ofstream(folder / "options.json") << json{{"kind", m.kind},
                                                   {"pre_norm", m.norm == "pre"},
                                                   {"heads", m.attention.heads},
                                                   {"layers", m.decoder_layers},
                                                   {"context", m.context}};
    file::write_safetensors(folder / "weights.safetensors", file::tensors_of(*trained_.parameters));
  }

  json run(int threads, int64_t tokens) {
    omp_set_num_threads(threads);
    const auto beginning = data::Sources::of(std::span(&text::kStart, 1));
    const auto begin = std::chrono::steady_clock::now();
    const auto found =
        search::search(*trained_.model->generator(), tape_, {.sources = beginning}, {.end = -1, .longest = tokens});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return {{"seconds", seconds}, {"tokens", found.front().best().tokens}};
  }

  int64_t parameters() const { return trained_.parameters->count(); }

 private:
  trained::TrainedModel trained_;
  Tape tape_{{.recording = false, .training = false}};
};

json answer(const json& request, std::optional<Writing>& writing) {
  const std::string op = request.at("op");
  if (op == "hello") return {{"isa", kernels::isa()}};
  if (op == "open") {
    writing.emplace(request.at("model").get<std::string>());
    writing->write(request.at("folder").get<std::string>());
    return {{"parameters", writing->parameters()}};
  }
  expect(writing.has_value(), "nothing is open");
  expect(op == "run", "there is no op '{}'", op);
  return writing->run(request.at("threads"), request.at("tokens"));
}

}  // namespace
}  // namespace heed::bench

int main() {
  std::optional<heed::bench::Writing> writing;
  heed::bench::reply_to_lines([&](const nlohmann::json& request) { return heed::bench::answer(request, writing); });
  return 0;
}
