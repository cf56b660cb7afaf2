#include "session.h"

#include <omp.h>

#include <filesystem>
#include <functional>

#include "sgemm.h"
#include "timing.h"

namespace heed::bench {

using nlohmann::json;

json describe(const CaseSpec& spec) {
  return {{"case", spec.name},
          {"score", spec.score == kernels::ScoreKind::inner ? "inner" : "tanh_sum"},
          {"batch", spec.batch},
          {"heads", spec.heads},
          {"queries", spec.queries},
          {"keys", spec.keys},
          {"dim", spec.dim},
          {"causal", spec.causal},
          {"window", spec.window},
          {"train", spec.train},
          {"flops", spec.flops()},
          {"pair_dims", spec.pair_dims()},
          {"kv_bytes", spec.kv_bytes()}};
}

json Session::open(const std::vector<const CaseSpec*>& specs, const std::string& dump) {
  if (a_.empty()) {
    const int64_t size = kYardstick * kYardstick;
    a_ = Buffer(size);
    b_ = Buffer(size);
    c_ = Buffer(size);
    fill_random(a_, 1);
    fill_random(b_, 2);
    fill_zero(c_);
  }
  cases_.clear();
  plain_agrees_.clear();
  rounds_ = 0;
  json reply = json::object();
  omp_set_num_threads(omp_get_num_procs());
  for (const CaseSpec* spec : specs) {
    auto current = std::make_unique<Case>(*spec);
    json& about = reply[spec->name] = describe(*spec);
    std::string error = current->run_heed(omp_get_num_procs());
    bool plain_agrees = false;
    if (error.empty()) {
      const double difference = current->reference_difference();
      about["difference"] = difference;
      if (!(difference <= kAgreement)) error = "heed disagrees with the formula in double";
      about["path"] = current->path();
    }
    if (error.empty() && current->has_plain()) {
      current->run_plain(omp_get_num_procs());
      const double difference = current->plain_difference();
      about["plain_difference"] = difference;
      plain_agrees = difference <= kAgreement;
    }
    if (error.empty() && !dump.empty()) {
      const std::string folder = dump + "/" + spec->name;
      std::error_code failed;
      std::filesystem::create_directories(folder, failed);
      if (failed || !current->dump(folder)) about["dump_error"] = "could not write to " + folder;
      about["dump"] = folder;
    }
    if (!error.empty()) {
      about["error"] = error;
      continue;
    }
    cases_.push_back(std::move(current));
    plain_agrees_.push_back(plain_agrees);
  }
  return reply;
}

json Session::round(int threads) {
  omp_set_num_threads(threads);
  json reply = {{"cases", json::object()}};
  std::vector<std::function<void()>> contestants;
  contestants.emplace_back([&] {
    reply["sgemm"] = sample_ms([&] {
      sgemm('N', 'N', kYardstick, kYardstick, kYardstick, 1.0f, a_.data(), kYardstick, b_.data(), kYardstick, 0.0f,
            c_.data(), kYardstick);
    });
  });
  for (size_t n = 0; n < cases_.size(); ++n) {
    Case* current = cases_[n].get();
    json& times = reply["cases"][current->spec().name];
    contestants.emplace_back([=, &times] { times["heed"] = sample_ms([=] { current->run_heed(threads); }); });
    if (plain_agrees_[n])
      contestants.emplace_back([=, &times] { times["plain"] = sample_ms([=] { current->run_plain(threads); }); });
    if (current->spec().queries == 1)
      contestants.emplace_back([=, &times] {
        volatile float sink = 0;
        times["read"] = sample_ms([&] { sink = current->run_read(threads); });
      });
  }
  // Every other round backwards: whoever follows a heavy neighbour should not do so always.
  if (rounds_++ % 2 == 0)
    for (auto it = contestants.begin(); it != contestants.end(); ++it) (*it)();
  else
    for (auto it = contestants.rbegin(); it != contestants.rend(); ++it) (*it)();
  return reply;
}

}  // namespace heed::bench
