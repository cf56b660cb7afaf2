#include "heed/train/log.h"

#include <optional>
#include <utility>

#include "heed/file/atomic.h"
#include "heed/file/json.h"
#include "heed/tensor/error.h"

namespace heed::train {

namespace {

using file::Json;

/// Texts may come from anywhere, so invalid UTF-8 is replaced.
std::string text_of(const Json& json) { return json.line() + "\n"; }

/// The lines of a log up to update `last`. A truncated line is dropped.
std::string until(const std::filesystem::path& path, int64_t last) {
  std::ifstream in(path);
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    const std::optional<Json> json = Json::parse(line);
    if (!json || !json->as<Json::Members>()) continue;
    const Json* step = json->find("step");
    if (step && step->as<uint64_t>() && *step->as<uint64_t>() > static_cast<uint64_t>(last)) break;
    const Json* event = json->find("event");
    if (!event || !event->as<std::string>() || *event->as<std::string>() != "finished") kept += line + "\n";
  }
  return kept;
}

}  // namespace

const char* name_of(Ending ending) {
  switch (ending) {
    case Ending::steps:
      return "steps";
    case Ending::epochs:
      return "epochs";
    case Ending::minutes:
      return "minutes";
    case Ending::patience:
      return "patience";
    case Ending::stopped:
      return "stopped";
  }
  return "";
}

Log::Log(std::filesystem::path path, int64_t every) : path_(std::move(path)), every_(every) {}

void Log::write(const std::string& line) {
  if (!file_.is_open()) {
    early_ += line;
    return;
  }
  file_ << line << std::flush;
  expect(file_.good(), ErrorKind::cannot_write, "'{}' could not be written; nothing more will be written to it",
         path_.string());
}

void Log::started(const Started& s) {
  file::write_file(path_, s.resumed_from > 0 ? until(path_, s.resumed_from) : "");
  file_.open(path_, std::ios::app);
  step_ = s.resumed_from;
  write(text_of(Json::object({{"event", "started"},
                              {"step", s.resumed_from},
                              {"model", s.model},
                              {"parameters", s.parameters},
                              {"examples", s.examples},
                              {"valid_examples", s.valid_examples},
                              {"source_tokens", s.source_tokens},
                              {"target_tokens", s.target_tokens},
                              {"updates_per_epoch", s.updates_per_epoch}})));
  write(std::exchange(early_, ""));
}

void Log::warned(const std::string& text) {
  write(text_of(Json::object({{"event", "warning"}, {"step", step_}, {"text", text}})));
}

void Log::stepped(const StepReport& r, const Progress& p) {
  step_ = r.step;
  if (r.step % every_ != 0) return;
  write(text_of(Json::object({{"event", "step"},
                              {"step", r.step},
                              {"epoch", r.epoch},
                              {"loss", r.loss},
                              {"nll", r.nll},
                              {"accuracy", r.accuracy},
                              {"gradient_norm", r.norm},
                              {"learning_rate", r.rate},
                              {"tokens", r.tokens},
                              {"tokens_per_second", p.tokens_per_second},
                              {"seconds", p.seconds}})));
}

void Log::skipped(const StepReport& r) {
  step_ = r.step;
  write(text_of(Json::object({{"event", "skipped"}, {"step", r.step}, {"epoch", r.epoch}, {"why", r.skipped}})));
}

void Log::validated(const Validated& v, const Progress& p) {
  const Evaluation& e = v.evaluation;
  Json json = Json::object({{"event", "validated"},
                            {"step", v.step},
                            {"nll", e.nll},
                            {"perplexity", e.perplexity},
                            {"token_accuracy", e.token_accuracy}});
  if (e.exact.count > 0) {
    json["exact"] = e.exact.rate();
    json["characters"] = e.characters.rate();
    json["decoded"] = e.exact.count;
    if (e.task) json["metric"] = Json::object({{"name", e.task->name}, {"value", e.task->value}});
  }
  json["best"] = v.is_best;
  json["waited"] = v.waited;
  json["seconds"] = p.seconds;
  json["samples"] = Json::array();
  for (const Sample& s : e.samples)
    json["samples"].push_back(Json::object({{"source", s.source}, {"output", s.output}, {"reference", s.reference}}));
  write(text_of(json));
}

void Log::saved(const std::string& checkpoint, bool is_best) {
  write(text_of(Json::object({{"event", "saved"}, {"step", step_}, {"checkpoint", checkpoint}, {"best", is_best}})));
}

void Log::finished(const Finished& f) {
  write(text_of(Json::object({{"event", "finished"},
                              {"step", f.step},
                              {"by", name_of(f.ending)},
                              {"seconds", f.seconds},
                              {"skipped", f.skipped},
                              {"best", f.best},
                              {"best_value", f.best_value}})));
}

}  // namespace heed::train
