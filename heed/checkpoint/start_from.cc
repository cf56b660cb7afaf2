#include "heed/checkpoint/start_from.h"

#include <algorithm>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/checkpoint/safetensors.h"

namespace heed::trained {

namespace {

/// Sizes of a vocabulary before and after it grew.
struct Grown {
  int64_t before, after;
};

/// The same size, or a vocabulary that grew.
bool may_become(int64_t before, int64_t after, const std::vector<Grown>& grown) {
  return before == after || std::any_of(grown.begin(), grown.end(),
                                        [&](const Grown& g) { return g.before == before && g.after == after; });
}

/// [rows, cols] into the upper left of [rows + new, cols + new]; a vector is one row.
void copy_into(const Parameter& from, Parameter& to) {
  float* numbers = to.value.data();
  for (int64_t row = 0; row < from.rows(); ++row) from.value.row(row, from.cols(), numbers + row * to.cols());
}

}  // namespace

std::vector<std::string> start_from(const TrainedModel& from, TrainedModel& made) {
  const Grown targets = {from.vocabularies.target->size(), made.vocabularies.target->size()};
  std::vector<Grown> grown = {{from.vocabularies.source->size(), made.vocabularies.source->size()}, targets};
  // <unk>, <s> and </s> are no labels.
  if (made.task().answers() == task::AnswerKind::label)
    grown.push_back({targets.before - text::kSpecials, targets.after - text::kSpecials});
  const bool other_decoder = from.description.model.decoder_kind() != made.description.model.decoder_kind();
  std::vector<std::string> lacking;
  for (Parameter& p : *made.parameters) {
    const Parameter* before = from.parameters->find(p.name);
    if (!before && other_decoder) {
      lacking.push_back(p.name);
      continue;
    }
    expect(before != nullptr, ErrorKind::file,
           "the model to start from has no weight '{}': it is another kind of model", p.name);
    expect(before->shape.size() == p.shape.size() && may_become(before->rows(), p.rows(), grown) &&
               may_become(before->cols(), p.cols(), grown),
           ErrorKind::file, "the weight '{}' of the model to start from has shape {}, but {} is needed", p.name,
           file::shape_text(before->shape), file::shape_text(p.shape));
    copy_into(*before, p);
  }
  return lacking;
}

}  // namespace heed::trained
