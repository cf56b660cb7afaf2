// heed info: what a model is, and what it runs on.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/options.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/kernels/isa.h"
#include "heed/kernels/threads.h"
#include "heed/tensor/error.h"
#include "heed/train/recipe.h"

namespace heed::cli {

namespace {

using nlohmann::ordered_json;

struct Chosen {
  ModelChoice model;
  bool json = false;
};

// --------------------------------------------------------------------------------------------------------------- facts
// All of it is gathered as JSON; the text is made from that, so that neither says more than the other.

ordered_json machine() {
  return {{"heed", HEED_VERSION},
          {"instruction_set", kernels::isa()},
          {"instruction_sets", kernels::available_isas()},
          {"threads", kernels::most_threads()},
          {"cores", std::thread::hardware_concurrency()},
          {"compiler", fmt::format("{} {}", HEED_COMPILER, __VERSION__)}};
}

ordered_json vocabulary(const Tokeniser& tokeniser) { return {{"kind", tokeniser.kind()}, {"size", tokeniser.size()}}; }

/// Numbers of each part of the model: "encoder", "decoder", ... .
ordered_json parameters_by_part(const Parameters& parameters) {
  ordered_json parts = ordered_json::object();
  for (const Parameter& p : parameters) {
    ordered_json& count = parts[p.name.substr(0, p.name.find('.'))];
    count = (count.is_null() ? int64_t{0} : count.get<int64_t>()) + std::ssize(p.value);
  }
  return parts;
}

/// What the recipe says of the attention, and is not the default.
ordered_json attention(const train::Recipe& recipe) {
  ordered_json said{{"score", recipe.model.attention.score}};
  const auto lines = [](const train::Recipe& r) {
    const std::string all = train::recipe_text(r);
    const size_t begin = all.find("[attention]");
    return all.substr(begin, all.find("\n[", begin + 1) - begin);
  };
  const std::string mine = lines(recipe), plain = lines({});
  for (size_t at = 0; at < mine.size();) {
    const size_t end = std::min(mine.find('\n', at), mine.size());
    const std::string line = mine.substr(at, end - at);
    at = end + 1;
    const size_t equals = line.find(" = ");
    if (line.starts_with('#') || equals == std::string::npos || plain.find(line + "\n") != std::string::npos) continue;
    const std::string value = line.substr(equals + 3, line.find(" #") - equals - 3);
    const ordered_json parsed = ordered_json::parse(value, nullptr, /*allow_exceptions=*/false);
    said[line.substr(0, line.find(' '))] = parsed.is_discarded() ? ordered_json(value) : parsed;
  }
  return said;
}

ordered_json training(const file::State& state, const std::string& metric) {
  ordered_json t{{"updates", state.integer("step")}};
  if (state.has("averaged")) t["averaged"] = state.integer("averaged");
  if (state.has("seconds")) t["seconds"] = state.real("seconds");
  if (state.has("best_step") && state.integer("best_step") > 0)
    t["best"] = {{"metric", metric}, {"value", state.real("best_value")}, {"updates", state.integer("best_step")}};
  return t;
}

ordered_json model(const ModelChoice& choice) {
  const file::Checkpoint checkpoint = open_checkpoint(choice);
  const train::TrainedModel trained = load_model(choice);
  const model::Seq2SeqOptions& o = trained.recipe.model;
  ordered_json m{{"folder", checkpoint.folder().string()},
                 {"kind", o.kind},
                 {"width", o.width},
                 {"encoder_layers", o.encoder_layers},
                 {"decoder_layers", o.decoder_layers}};
  if (o.kind == "rnn") {
    m["cell"] = o.cell;
    m["bidirectional"] = o.bidirectional;
  } else {
    m["hidden"] = o.hidden > 0 ? o.hidden : 4 * o.width;
    m["positions"] = o.positions;
    m["norm"] = o.norm;
  }
  m["tied"] = o.tied;
  m["attention"] = attention(trained.recipe);
  m["source_vocabulary"] = vocabulary(*trained.vocabularies.source);
  m["target_vocabulary"] = vocabulary(*trained.vocabularies.target);
  m["longest_output"] = train::longest_output(trained.recipe);
  m["parameters"] = trained.parameters->count();
  m["parameters_by_part"] = parameters_by_part(*trained.parameters);
  m["weight_bytes"] = trained.parameters->count() * static_cast<int64_t>(sizeof(float));
  m["training"] = training(checkpoint.state(), trained.recipe.validate.metric);
  return m;
}

// ---------------------------------------------------------------------------------------------------------------- text

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string value_text(const std::string& name, const ordered_json& value) {
  if (name == "weight_bytes") return bytes_text(value.get<double>());
  if (name == "seconds") return duration_text(value.get<double>());
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) return fmt::format("{:.4f}", value.get<double>());
  if (value.is_number()) return grouped(value.get<int64_t>());
  std::string all;
  if (value.is_array())
    for (const ordered_json& one : value) all += (all.empty() ? "" : ", ") + value_text(name, one);
  else
    for (const auto& [key, one] : value.items())
      all += fmt::format("{}{} {}", all.empty() ? "" : ", ", key, value_text(key, one));
  return all;
}

std::string section(const std::string& title, const ordered_json& facts, const Terminal& terminal) {
  std::vector<Row> rows;
  for (const auto& [name, value] : facts.items()) {
    std::string said = name;
    std::replace(said.begin(), said.end(), '_', ' ');
    rows.push_back({said, value_text(name, value)});
  }
  return terminal.bold(title) + "\n" + table(rows, terminal, 0);
}

void run(const Chosen& c) {
  ordered_json all;
  if (!c.model.folder.empty()) all["model"] = model(c.model);
  all["machine"] = machine();
  if (c.json) return print(all.dump(2) + "\n");
  const Terminal terminal;
  std::string text;
  if (all.contains("model")) text += section("Model", all["model"], terminal) + "\n";
  print(text + section("Machine", all["machine"], terminal));
}

constexpr const char* kHelp = R"(Examples:
  heed info                            version, instruction set, threads
  heed info model                      sizes, attention, vocabularies, parameters, where the training stands
  heed info model --checkpoint last --json)";

}  // namespace

void add_info(CLI::App& app) {
  auto c = std::make_shared<Chosen>();
  CLI::App* verb = app.add_subcommand("info", "What a model is, and what it runs on")->group("Verbs");
  add_model(*verb, c->model, /*required=*/false);
  add_json(*verb, c->json);
  add_threads(*verb);
  verb->footer(kHelp);
  verb->callback([c] { run(*c); });
}

}  // namespace heed::cli
