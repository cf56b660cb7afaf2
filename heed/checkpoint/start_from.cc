#include "heed/checkpoint/start_from.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
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

namespace {

/// "text.pool" of "text.pool.query": as much of the name as tells where a weight belongs. All of it among the vectors.
std::string place_of(std::string_view name, const task::EncoderPart& of) {
  if (name.starts_with(std::string(of.vectors) + ".")) return std::string(name);
  const size_t first = name.find('.'), second = first == std::string_view::npos ? first : name.find('.', first + 1);
  return std::string(name.substr(0, second == std::string_view::npos ? first : second));
}

void add_once(std::vector<std::string>& all, std::string name) {
  if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(std::move(name));
}

/// The name of the weight of one encoder in the other; empty: it does not belong to an encoder.
std::string renamed(std::string_view name, const task::EncoderPart& from, const task::EncoderPart& to) {
  for (const auto& [before, after] :
       {std::pair<std::string, std::string>(from.vectors, to.vectors), std::pair(from.layers, to.layers)})
    if (name.starts_with(before + ".")) return after + std::string(name.substr(before.size()));
  return "";
}

}  // namespace

TakenEncoder start_from_encoder(const TrainedModel& from, TrainedModel& made) {
  const auto theirs = from.task().encoder_part(from.description.model),
             ours = made.task().encoder_part(made.description.model);
  expect(theirs && ours, ErrorKind::file,
         "the model to start from is for \"{}\", and has no encoder of texts for \"{}\"", from.description.model.task,
         made.description.model.task);
  const Grown tokens = {from.vocabularies.source->size(), made.vocabularies.source->size()};
  TakenEncoder taken{.known = tokens.before, .added = tokens.after - tokens.before, .layers = ours->depth};
  const std::string blank = std::string(ours->vectors) + ".blank";
  for (Parameter& p : *made.parameters) {
    const std::string name = renamed(p.name, *ours, *theirs);
    const Parameter* before = name.empty() ? nullptr : from.parameters->find(name);
    // Only texts that lack tokens have a vector for that.
    if (name.empty() || (!before && p.name == blank)) {
      add_once(taken.anew, place_of(p.name, *ours));
      continue;
    }
    expect(before != nullptr, ErrorKind::file, "the encoder of the model to start from has no weight '{}' for '{}'",
           name, p.name);
    expect(before->shape.size() == p.shape.size() && may_become(before->rows(), p.rows(), {tokens}) &&
               before->cols() == p.cols(),
           ErrorKind::file, "the weight '{}' of the model to start from has shape {}, but '{}' needs {}", name,
           file::shape_text(before->shape), p.name, file::shape_text(p.shape));
    copy_into(*before, p);
  }
  for (const Parameter& p : *from.parameters) {
    const std::string name = renamed(p.name, *theirs, *ours);
    if (name.empty() || !made.parameters->find(name)) add_once(taken.left, place_of(p.name, *theirs));
  }
  return taken;
}

std::string TakenEncoder::text(std::string_view name) const {
  std::string said = fmt::format("from {}: the vectors of {} tokens and {} layer{} of its encoder", name, known, layers,
                                 layers == 1 ? "" : "s");
  if (!left.empty()) said += fmt::format("; left there: {}", fmt::join(left, ", "));
  if (!anew.empty()) said += fmt::format("; starting from random numbers: {}", fmt::join(anew, ", "));
  if (added > 0)
    said += fmt::format(", and the vectors of {} token{} that only the new data has", added, added == 1 ? "" : "s");
  return said;
}

}  // namespace heed::trained
