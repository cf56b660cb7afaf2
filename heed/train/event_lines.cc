#include "heed/train/event_lines.h"

#include <utility>

#include "heed/base/json.h"

namespace heed::train {

using file::Json;

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

EventLines::EventLines(int64_t every, std::function<void(const std::string&)> sink)
    : every_(every), sink_(std::move(sink)) {}

/// Texts may come from anywhere: bytes that are not UTF-8 are replaced.
void EventLines::write(const Json& event) { sink_(event.line() + "\n"); }

void EventLines::saw(const std::string& what) {
  write(Json::object({{"event", "seen"}, {"step", step_}, {"text", what}}));
}

void EventLines::chose(const std::vector<task::Suggestion>& chosen) {
  Json settings = Json::object();
  for (const task::Suggestion& each : chosen) settings[each.key] = each.value;
  write(Json::object({{"event", "chosen"}, {"step", step_}, {"settings", settings}}));
}

void EventLines::started(const Started& s) {
  step_ = s.resumed_from;
  write(Json::object({{"event", "started"},
                      {"step", s.resumed_from},
                      {"model", s.model},
                      {"parameters", s.parameters},
                      {"examples", s.examples},
                      {"valid_examples", s.valid_examples},
                      {"source_tokens", s.source_tokens},
                      {"target_tokens", s.target_tokens},
                      {"updates_per_epoch", s.updates_per_epoch},
                      {"example", s.example},
                      {"prediction", s.prediction},
                      {"labels", s.labels}}));
}

void EventLines::warned(const std::string& text) {
  write(Json::object({{"event", "warning"}, {"step", step_}, {"text", text}}));
}

void EventLines::stepped(const StepReport& r, const Progress& p) {
  step_ = r.step;
  if (r.step % every_ != 0) return;
  Json json = Json::object({{"event", "step"},
                            {"step", r.step},
                            {"epoch", r.epoch},
                            {"loss", r.loss},
                            {"nll", r.nll},
                            {"accuracy", r.accuracy},
                            {"gradient_norm", r.norm},
                            {"learning_rate", r.rate},
                            {"tokens", r.tokens},
                            {"tokens_per_second", p.tokens_per_second},
                            {"share", p.share},
                            {"seconds_left", p.seconds_left},
                            {"seconds", p.seconds}});
  if (r.reward) json["reward"] = *r.reward;
  write(json);
}

void EventLines::skipped(const StepReport& r) {
  step_ = r.step;
  write(Json::object({{"event", "skipped"}, {"step", r.step}, {"epoch", r.epoch}, {"why", r.skipped}}));
}

void EventLines::validated(const Validated& v, const Progress& p) {
  const Evaluation& e = v.evaluation;
  Json json = Json::object({{"event", "validated"},
                            {"step", v.step},
                            {"nll", e.nll},
                            {"perplexity", e.perplexity},
                            {"token_accuracy", e.token_accuracy}});
  if (e.bits_per_character > 0) json["bits_per_character"] = e.bits_per_character;
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
  write(json);
}

void EventLines::saved(const std::string& checkpoint, bool is_best) {
  write(Json::object({{"event", "saved"}, {"step", step_}, {"checkpoint", checkpoint}, {"best", is_best}}));
}

void EventLines::finished(const Finished& f) {
  write(Json::object({{"event", "finished"},
                      {"step", f.step},
                      {"by", name_of(f.ending)},
                      {"seconds", f.seconds},
                      {"skipped", f.skipped},
                      {"best", f.best},
                      {"best_value", f.best_value}}));
}

}  // namespace heed::train
