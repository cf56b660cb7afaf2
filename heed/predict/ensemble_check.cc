#include "heed/predict/ensemble_check.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/task/speech/speech_options.h"
#include "heed/text/tokeniser.h"

namespace heed::predict {

namespace {

const char* what_it_does(task::AnswerKind answers) {
  if (answers == task::AnswerKind::vector) return "give vectors";
  return answers == task::AnswerKind::label ? "give labels" : "fill in tokens";
}

}  // namespace

void expect_same_outputs(const trained::TrainedModel& first, const trained::TrainedModel& other, size_t which) {
  const std::string &task = first.description.model.task, &other_task = other.description.model.task;
  expect(task == other_task, "ensemble: model 1 does the task {}, but model {} does {}", task, which, other_task);
  expect(first.task().writes(), "ensemble: these models {}; only models that write can work together",
         what_it_does(first.task().answers()));
  const bool copies = first.description.model.copying.on, other_copies = other.description.model.copying.on;
  expect(copies == other_copies, "ensemble: model {} copies words of the source, but model {} does not",
         copies ? 1 : which, copies ? which : 1);
  expect(!copies || read_the_same(first, other),
         "ensemble: models that copy words must cut the source into the same tokens, but models 1 and {} do not",
         which);
  const text::Tokeniser &a = *first.vocabularies.target, &b = *other.vocabularies.target;
  if (a.contents() == b.contents() && a.kind() == b.kind()) return;
  expect(a.kind() == b.kind(), "ensemble: model 1 writes {}, but model {} writes {}", a.kind(), which, b.kind());
  for (int32_t id = 0; id < std::min(a.size(), b.size()); ++id)
    expect(a.token(id) == b.token(id),
           "ensemble: the models must write the same tokens, but token {} is '{}' in model 1 and '{}' in model {}", id,
           a.token(id), b.token(id), which);
  expect(
      a.size() == b.size(),
      "ensemble: the models must write the same tokens, but model 1 has {} and model {} has {}; the first {} are the "
      "same",
      a.size(), which, b.size(), std::min(a.size(), b.size()));
}

bool read_the_same(const trained::TrainedModel& first, const trained::TrainedModel& other) {
  const model::Options &a = first.description.model, &b = other.description.model;
  if (a.picture_size != b.picture_size || a.picture_layers != b.picture_layers) return false;
  if (task::seconds_of_row(task::speech_options(a)) != task::seconds_of_row(task::speech_options(b))) return false;
  const text::Tokeniser &x = *first.vocabularies.source, &y = *other.vocabularies.source;
  return x.kind() == y.kind() && x.contents() == y.contents();
}

}  // namespace heed::predict
