#include "heed/compare/probe.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "heed/attend/options.h"
#include "heed/base/error.h"
#include "heed/base/sha256.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/tensor/tape.h"

namespace heed::compare {

namespace {

/// The longest examples, and some others.
std::vector<int64_t> some_examples(const data::Dataset& all) {
  constexpr size_t kLongest = 2, kMostPredictions = 2, kOthers = 2;
  std::vector<int64_t> order(static_cast<size_t>(all.size()));
  std::iota(order.begin(), order.end(), 0);
  std::vector<int64_t> chosen(order.begin(), order.begin() + static_cast<int64_t>(std::min(order.size(), kOthers)));
  const auto take = [&](size_t count, const auto& size) {
    const auto end = order.begin() + static_cast<int64_t>(std::min(order.size(), count));
    std::partial_sort(order.begin(), end, order.end(), [&](int64_t a, int64_t b) {
      const int64_t size_a = size(a), size_b = size(b);
      return size_a != size_b ? size_a > size_b : a < b;
    });
    chosen.insert(chosen.end(), order.begin(), end);
  };
  take(kLongest, [&](int64_t i) { return all.longest_sequence(i); });
  take(kMostPredictions, [&](int64_t i) { return all.predictions(i); });
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

template <class T>
void add_number(file::Sha256& hash, T number) {
  hash.add(std::as_bytes(std::span(&number, 1)));
}

/// Options that the loss and gradients of a first update do not show: what is done with rewards, how weights fall, and
/// what happens at inference.
const std::set<std::string, std::less<>> kActsLater = {"at_test",        "baseline",         "baseline_decay",
                                                       "entropy_weight", "entropy_schedule", "entropy_steps",
                                                       "guide_schedule", "guide_steps"};

/// Only these of the options; the others as in no recipe.
attend::Options acts_later(const attend::Options& named) {
  attend::Options kept;
  kept.at_test = named.at_test;
  kept.baseline = named.baseline;
  kept.baseline_decay = named.baseline_decay;
  kept.entropy_weight = named.entropy_weight;
  kept.entropy_schedule = named.entropy_schedule;
  kept.entropy_steps = named.entropy_steps;
  kept.guide_schedule = named.guide_schedule;
  kept.guide_steps = named.guide_steps;
  return kept;
}

bool is_of_data(const std::string& key) { return key.starts_with("data.") || key == "model.task"; }

}  // namespace

Probe::Probe(const train::TrainingSetup& setup)
    : base_(setup.recipe),
      vocabularies_(setup.model.vocabularies),
      batch_(setup.corpus.train->pack(some_examples(*setup.corpus.train))) {}

std::string Probe::hash(const recipe::Recipe& variant) const {
  const auto mine = recipe::values_of(variant), base = recipe::values_of(base_);
  for (const auto& [key, value] : mine)
    if (const auto found = base.find(key); is_of_data(key) && (found == base.end() || found->second != value))
      return "";
  try {
    const trained::TrainedModel made =
        trained::make_model(recipe::describe(variant), vocabularies_, variant.train.seed);
    file::Sha256 hash;
    Tape tape({.recording = true, .training = true, .seed = 1});
    const model::Loss loss = made.model->loss(tape, batch_, {.label_smoothing = variant.train.label_smoothing});
    add_number(hash, loss.negative_log_likelihood);
    tape.backward(loss.loss);
    for (const Parameter& p : *made.parameters) {
      add_number(hash, p.size());
      if (p.has_gradient) hash.add(std::as_bytes(std::span(p.gradient)));
    }
    Tape plain({.recording = false, .training = false});
    add_number(hash, made.model->loss(plain, batch_, {}).negative_log_likelihood);
    return hash.hex();
  } catch (const Error&) {
    return "";  // its training will say why
  }
}

std::string beside_attention(recipe::Recipe variant) {
  variant.model.attention = acts_later(variant.model.attention);
  for (auto& [place, change] : variant.model.places) {
    change.to = acts_later(change.to);
    std::erase_if(change.keys, [](const std::string& key) { return !kActsLater.contains(key); });
  }
  std::erase_if(variant.model.places, [](const auto& change) { return change.second.keys.empty(); });
  return recipe::text_of(variant);
}

}  // namespace heed::compare
