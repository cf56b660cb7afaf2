#include "heed/distill/distill.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "heed/base/atomic.h"
#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/sha256.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/distill/parts.h"
#include "heed/task/decoding_option.h"
#include "heed/task/text_pairs.h"
#include "heed/text/utf8.h"
#include "heed/text/words.h"

namespace heed::distill {

namespace {

namespace fs = std::filesystem;

/// What the targets depend on.
std::string fingerprint(const predict::Predictor& teacher, const data::Pairs& pairs, const predict::Options& o) {
  file::Sha256 hash;
  const auto add = [&](std::string_view text) {
    hash.add(std::as_bytes(std::span(text)));
    hash.add(std::as_bytes(std::span("\n", 1)));
  };
  for (const Parameter& p : *teacher.model().parameters) {
    add(p.name);
    const std::vector<float> numbers = p.value.copy();  // as they are: no more of them than these at a time
    hash.add(std::as_bytes(std::span(numbers)));
  }
  add(task::text_of(teacher.model().description));
  add(task::fingerprint(o));
  for (size_t i = 0; i < pairs.source.size(); ++i) {
    add(pairs.source[i]);
    add(pairs.target[i]);
  }
  return hash.hex();
}

void expect_pairs(const task::Task& task, std::string_view what) {
  expect(task.writes_texts_for_texts(),
         "distill: {} has model.task = \"{}\", but only tasks that write texts for texts have targets to write anew",
         what, task.name);
}

/// An answer more than twice as long as the target it would replace says something again and again, although it came to
/// an end at last: a length penalty may prefer such outputs.
bool repeats_itself(std::string_view answer, std::string_view target) {
  constexpr size_t kTimes = 2, kCharacters = 20;
  return text::utf8_count(answer) > kTimes * text::utf8_count(target) + kCharacters;
}

/// The targets of pairs [first, last).
std::vector<Target> taught(const predict::Predictor& teacher, const data::Pairs& pairs, int64_t first, int64_t last,
                           predict::Options search) {
  const std::span sources(pairs.source.data() + first, pairs.source.data() + last);
  search.first_line = first + 1;
  search.alignments = false;
  std::vector<predict::Prediction> predictions = teacher.predict_all(sources, search);
  std::vector<Target> targets;
  for (size_t i = 0; i < predictions.size(); ++i) {
    // No end within the longest output: it repeats itself.
    const predict::Prediction& found = predictions[i];
    const std::string& target = pairs.target[static_cast<size_t>(first) + i];
    const bool answered = found.error.empty() && !found.nbest.empty() && found.nbest.front().finished &&
                          !text::is_blank(found.text()) && found.text().find('\n') == std::string::npos &&
                          !repeats_itself(found.text(), target);
    targets.push_back({answered ? found.text() : target, !answered});
  }
  return targets;
}

std::string lines_of(const std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts) lines += text + "\n";
  return lines;
}

/// The recipe on the files of the folder.
recipe::Recipe on_files(recipe::Recipe r, const fs::path& folder) {
  std::vector<std::string> settings;
  if (r.data.task != "none") settings.emplace_back("data.task=none");
  for (const auto& [key, files] : {std::pair("data.tsv=", &r.data.train), std::pair("data.valid_tsv=", &r.data.valid)})
    if (!files->tsv.empty()) settings.emplace_back(key);
  if (!r.data.alignments.empty()) settings.emplace_back("data.alignments=");  // of the old targets
  settings.emplace_back("data.header=false");
  for (const char* name : {"train.source", "train.target", "valid.source", "valid.target"}) {
    const std::string_view side(name + 6);
    const bool valid = std::string_view(name).starts_with("valid");
    settings.push_back(fmt::format("data.{}{}={}", valid ? "valid_" : "", side, (folder / name).string()));
  }
  if (!r.output.folder.empty()) settings.push_back(fmt::format("output.folder={}-distilled", r.output.folder));
  recipe::set(r, settings);
  return r;
}

}  // namespace

Distilled distill(const predict::Predictor& teacher, const recipe::Recipe& recipe, const Options& o) {
  expect_pairs(recipe.task(), fmt::format("the recipe '{}'", recipe.file));
  expect_pairs(teacher.model().task(), "the model");
  expect(o.part > 0, "distill: part must be above 0, not {}", o.part);
  teacher.check(o.search);
  task::TextPairs texts = task::load_pairs(recipe.data, recipe.train.seed);
  data::Pairs& pairs = texts.train;
  const std::string work = fingerprint(teacher, pairs, o.search);
  const fs::path summary = o.folder / "distilled.json";
  Distilled result;
  result.progress.pairs = pairs.size();
  for (const data::Report& report : texts.reports)
    if (const std::string text = report.text(); !text.empty()) result.warnings.push_back(text);

  std::error_code ignored;
  if (fs::exists(summary, ignored)) {
    const std::optional<file::Json> done = file::Json::parse(file::read_text(summary));
    const file::Json* of = done ? done->find("work") : nullptr;
    expect(
        of && of->as<std::string>() && *of->as<std::string>() == work, ErrorKind::cannot_write,
        "'{}' holds targets of another model, with other options or for other data: use another folder, or remove it",
        o.folder.string());
  }
  const Parts parts(o.folder / "parts", work);
  std::vector<std::string> targets;
  Progress& progress = result.progress;
  for (int64_t first = 0; first < pairs.size(); first += o.part) {
    const int64_t last = std::min(pairs.size(), first + o.part);
    std::optional<std::vector<Target>> part = parts.load(first, last - first);
    if (part)
      progress.found += last - first;
    else if (o.stop && *o.stop)
      return result;
    else
      parts.save(first, *(part = taught(teacher, pairs, first, last, o.search)));
    for (const Target& target : *part) {
      progress.kept += target.kept ? 1 : 0;
      progress.changed += target.text != pairs.target[targets.size()] ? 1 : 0;
      targets.push_back(target.text);
    }
    progress.done = last;
    if (o.tell) o.tell(progress);
  }
  file::write_file(o.folder / "train.source", lines_of(pairs.source));
  file::write_file(o.folder / "train.target", lines_of(targets));
  file::write_file(o.folder / "valid.source", lines_of(texts.valid.source));
  file::write_file(o.folder / "valid.target", lines_of(texts.valid.target));
  file::write_file(o.folder / "recipe.toml", recipe::short_text_beside(on_files(recipe, o.folder), o.folder));
  file::write_file(
      summary, file::Json::object(
                   {{"work", work}, {"pairs", progress.pairs}, {"kept", progress.kept}, {"changed", progress.changed}})
                       .text(2) +
                   "\n");
  parts.remove();
  result.complete = true;
  return result;
}

}  // namespace heed::distill
