#include "cli/facts_json.h"

namespace heed::cli {

using file::Json;

Json json_value(const std::string& value) { return Json::parse(value).value(); }

Json json_of(const Facts& facts) {
  const attend::Entry& e = *facts.entry;
  Json j = Json::object({{"id", e.id},
                         {"name", e.name},
                         {"part", attend::name_of(e.part)},
                         {"title", e.title},
                         {"formula", e.formula},
                         {"paper", e.paper},
                         {"time", e.time},
                         {"memory", e.memory},
                         {"combines", e.combines},
                         {"page", e.page},
                         {"aliases", facts.aliases},
                         {"options", Json::array()},
                         {"settings", Json::object()},
                         {"sample", Json::object()},
                         {"parameters", Json::array()},
                         {"recipe", facts.recipe}});
  for (const OptionFact& o : facts.options) {
    Json option = Json::object({{"name", o.name}, {"type", o.type}, {"default", json_value(o.value)}});
    if (!o.by_name.empty()) option["by_name"] = json_value(o.by_name);
    option["meaning"] = o.meaning;
    j["options"].push_back(std::move(option));
  }
  for (const Setting& s : facts.settings) j["settings"][s.name] = json_value(s.value);
  for (const Setting& s : facts.sample) j["sample"][s.name] = json_value(s.value);
  for (const ParameterFact& p : facts.parameters)
    j["parameters"].push_back(Json::object({{"name", p.name}, {"shape", p.shape}, {"trainable", p.trainable}}));
  return j;
}

}  // namespace heed::cli
