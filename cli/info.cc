// heed info: what a model is, and what it runs on.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "cli/options.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/checkpoint/weights.h"
#include "heed/kernels/isa.h"
#include "heed/kernels/threads.h"
#include "heed/task/description.h"
#include "heed/task/task.h"
#include "heed/tensor/format/int8_view.h"
#include "heed/version.h"

namespace heed::cli {

namespace {

using file::Json;

struct InfoArguments {
  ModelChoice model;
  bool json = false;
};

// --------------------------------------------------------------------------------------------------------------- facts
// Everything is gathered as JSON and the text is made from it, so that both say the same.

Json machine() {
  return Json::object({{"heed", HEED_VERSION},
                       {"instruction_set", kernels::isa()},
                       {"instruction_sets", kernels::available_isas()},
                       {"int8_dot_products", quad_dots()},
                       {"threads", kernels::most_threads()},
                       {"cores", std::thread::hardware_concurrency()},
                       {"compiler", fmt::format("{} {}", HEED_COMPILER, __VERSION__)}});
}

Json vocabulary(const text::Tokeniser& tokeniser) {
  return Json::object({{"kind", tokeniser.kind()}, {"size", tokeniser.size()}});
}

/// The number of parameters in each part of the model: "encoder", "decoder", ...
Json parameters_by_part(const Parameters& parameters) {
  Json parts = Json::object();
  for (const Parameter& p : parameters) {
    Json& count = parts[p.name.substr(0, p.name.find('.'))];
    count = (count.is_null() ? 0 : *count.as<int64_t>()) + std::ssize(p.value);
  }
  return parts;
}

/// The attention settings of the recipe that are not defaults; and the score, unless the structure has its own.
Json attention(const task::Description& description) {
  const attend::Options& options = description.model.attention;
  Json said = attend::resolve(options).structure->own_score ? Json::object({{"structure", options.structure}})
                                                            : Json::object({{"score", options.score}});
  const auto defaults = task::values_of(task::default_description(description.task()));
  constexpr std::string_view kSection = "attention.";
  for (const auto& [key, value] : task::values_of(description))
    if (const auto usual = defaults.find(key);
        key.starts_with(kSection) && (usual == defaults.end() || usual->second != value))
      said[key.substr(kSection.size())] = Json::parse(value).value_or(value);
  return said;
}

/// Nothing of a model that was not trained here.
Json training(const file::TrainingState& state) {
  Json t = Json::object({});
  if (state.has("step")) t["updates"] = state.integer("step");
  if (state.has("averaged")) t["averaged"] = state.integer("averaged");
  if (state.has("seconds")) t["seconds"] = state.real("seconds");
  if (state.has("best_step") && state.integer("best_step") > 0)
    t["best"] = Json::object({{"metric", state.has("best_metric") ? state.text("best_metric") : "loss"},
                              {"value", state.real("best_value")},
                              {"updates", state.integer("best_step")}});
  return t;
}

/// Of the weights in the file.
int64_t stored_bytes(const trained::TrainedModel& trained) {
  uint64_t bytes = 0;
  for (const file::TensorToWrite& tensor : file::tensors_of(*trained.parameters, trained.stored))
    bytes += tensor_bytes(tensor);
  return static_cast<int64_t>(bytes);
}

Json model(const file::Checkpoint& checkpoint) {
  const trained::TrainedModel trained = trained::load_model(checkpoint);
  const model::Options& o = trained.description.model;
  Json m = Json::object({{checkpoint.is_one_file() ? "file" : "folder", checkpoint.folder().string()},
                         {"task", o.task},
                         {"kind", o.encoder_kind() == o.decoder_kind() ? o.encoder_kind() : "mixed"},
                         {"encoder", o.encoder_kind()},
                         {"decoder", o.decoder_kind()},
                         {"width", o.width},
                         {"encoder_layers", o.encoder_layers},
                         {"decoder_layers", o.decoder_layers}});
  const std::map<std::string, std::string> values = task::values_of(trained.description);
  for (const std::string& key : trained.task().stacks(o).keys)
    if (const auto value = values.find("model." + key); value != values.end())
      m[key] = Json::parse(value->second).value_or(value->second);
  if (const Json* hidden = m.find("hidden"); hidden && o.hidden == 0) m["hidden"] = 4 * o.width;
  m["tied"] = o.tied;
  m["attention"] = attention(trained.description);
  m["source_vocabulary"] = vocabulary(*trained.vocabularies.source);
  m["target_vocabulary"] = vocabulary(*trained.vocabularies.target);
  m["longest_output"] = trained.longest_output();
  m["parameters"] = trained.parameters->count();
  m["parameters_by_part"] = parameters_by_part(*trained.parameters);
  m["precision"] = name_of(trained.stored);
  m["weight_bytes"] = stored_bytes(trained);
  if (!trained.training.facts.values().empty()) m["training"] = training(trained.training.facts);
  return m;
}

// ---------------------------------------------------------------------------------------------------------------- text

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string number_text(const std::string& name, double number, bool whole) {
  if (name == "weight_bytes") return bytes_text(number);
  if (name == "seconds") return duration_text(number);
  return whole ? grouped(static_cast<int64_t>(number)) : fmt::format("{:.4f}", number);
}

std::string value_text(const std::string& name, const Json& value) {
  if (const auto* number = value.as<int64_t>()) return number_text(name, static_cast<double>(*number), true);
  if (const auto* number = value.as<uint64_t>()) return number_text(name, static_cast<double>(*number), true);
  if (const auto* number = value.as<double>()) return number_text(name, *number, false);
  if (const auto* text = value.as<std::string>()) return *text;
  if (const auto* flag = value.as<bool>()) return *flag ? "yes" : "no";
  std::string all;
  if (const auto* elements = value.as<Json::Elements>())
    for (const Json& one : *elements) all += (all.empty() ? "" : ", ") + value_text(name, one);
  if (const auto* members = value.as<Json::Members>())
    for (const auto& [key, one] : *members)
      all += fmt::format("{}{} {}", all.empty() ? "" : ", ", key, value_text(key, one));
  return all;
}

std::string section(const std::string& title, const Json& facts, const Terminal& terminal) {
  std::vector<Row> rows;
  for (const auto& [name, value] : *facts.as<Json::Members>()) {
    std::string said = name;
    std::replace(said.begin(), said.end(), '_', ' ');
    rows.push_back({said, value_text(name, value)});
  }
  return terminal.bold(title) + "\n" + table(rows, terminal, 0);
}

void run(const InfoArguments& c) {
  Json all;
  if (!c.model.folder.empty())
    with_checkpoint(c.model, [&](const file::Checkpoint& checkpoint) { all["model"] = model(checkpoint); });
  all["machine"] = machine();
  if (c.json) return print(all.line(2) + "\n");  // a folder name need not be UTF-8
  const Terminal terminal;
  std::string text;
  if (const Json* model = all.find("model")) text += section("Model", *model, terminal) + "\n";
  print(text + section("Machine", all["machine"], terminal));
}

constexpr const char* kHelp = R"(Examples:
  heed info                            version, instruction set, threads
  heed info model                      sizes, attention, vocabularies, parameters, training progress
  heed info model --checkpoint last --json)";

}  // namespace

void add_info(Program& program) {
  auto c = std::make_shared<InfoArguments>();
  Verb verb = program.verb("info", "Describe a model and this machine");
  add_model(verb, c->model, /*required=*/false);
  add_json(verb, c->json);
  add_threads(verb);
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
