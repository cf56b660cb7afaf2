// Trains a small model without a file: pairs and options stand in the program. It learns what day comes next.
#include <heed/train/train.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace {

/// Prints every validation, and stops the training when all outputs are right.
class Watcher final : public heed::train::TrainingObserver {
 public:
  void validated(const heed::train::Validated& v, const heed::train::Progress&) override {
    std::printf("update %d: loss %.3f, %.0f %% right\n", static_cast<int>(v.step), v.evaluation.nll,
                100.0 * v.evaluation.exact.rate());
    stop = v.evaluation.exact.rate() > 0.99;
  }
  std::atomic<bool> stop = false;
};

}  // namespace

int main() try {
  const std::array<std::string, 7> days = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                           "Friday", "Saturday", "Sunday"};
  std::vector<heed::train::TextPair> pairs;
  for (size_t repeat = 0; repeat < 20; ++repeat)
    for (size_t day = 0; day < days.size(); ++day) pairs.push_back({days[day], days[(day + 1) % days.size()]});

  // What is not given is chosen to fit the data.
  const heed::recipe::Recipe recipe{
      .model = {.width = 32, .attention = {.score = "additive"}},
      .train = {.batch_tokens = 256, .schedule = {.peak = 0.01f, .warmup = 10}},
      .stop = {.steps = 300},
      .validate = {.every = 50},
  };
  const auto folder = std::filesystem::temp_directory_path() / "heed-train-structs";
  std::filesystem::remove_all(folder);
  Watcher watcher;
  const auto model =
      heed::train::train(pairs, folder,
                         {.recipe = recipe,
                          .valid = {pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(days.size())},
                          .session = {.stop = &watcher.stop, .observers = {&watcher}}});

  bool right = true;
  for (size_t day = 0; day < days.size(); ++day) {
    const std::string next = model.predict(days[day]).text();
    std::printf("%s -> %s\n", days[day].c_str(), next.c_str());
    right &= next == days[(day + 1) % days.size()];
  }
  std::filesystem::remove_all(folder);
  return right ? 0 : 1;
} catch (const heed::Error& error) {
  std::puts(error.what());
  return 1;
}
