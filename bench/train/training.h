// The trainings that are timed: heed's own trainer on batches that the peers get too.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/checkpoint/trained_model.h"
#include "heed/task/seq2seq/texts.h"
#include "heed/train/recipe/recipe.h"
#include "heed/train/trainer.h"

namespace heed::bench {

/// transformer_tiny, gru_additive, lstm_key_value, ...
std::vector<std::string> training_cases();

/// One case: its data, and its trainings, which all go through the same batches.
class Training {
 public:
  /// `data`: folder with train.en and train.de, words separated by spaces; empty: made-up sentences of the same
  /// lengths.
  Training(std::string_view name, const std::filesystem::path& data);

  /// What a peer needs: options.json, the first `batches` batches, the weights to begin with.
  void write(const std::filesystem::path& folder, int64_t batches) const;

  /// The losses of the first updates without dropout, to compare with a peer's.
  std::vector<double> first_losses(int64_t updates) const;

  struct Times {
    double seconds = 0;
    int64_t tokens = 0;  // target tokens; for labels, words that are read
  };
  /// The next updates of one of several trainings, with dropout. A training of its own for each number of threads goes
  /// through the same batches; a large model has one for all, which needs less memory.
  Times run(int threads, int64_t updates, int training);

  int64_t parameters() const { return fresh_.parameters->count(); }
  int64_t vocabulary() const { return fresh_.vocabularies.source->size(); }

 private:
  struct Running {
    trained::TrainedModel made;
    std::unique_ptr<train::Trainer> trainer;
    size_t batches = 0;  // done
  };
  Running start(float dropout) const;
  std::vector<data::Indices> batches() const;

  recipe::Recipe recipe_;
  task::Corpus corpus_;
  trained::TrainedModel fresh_;
  std::vector<int64_t> words_;  // for labels: of each batch
  std::map<int, Running> running_;
};

}  // namespace heed::bench
