#include "heed/serve/training_curves.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

namespace heed::serve {

using file::Json;

std::optional<Json> training_curve(const std::filesystem::path& folder) {
  constexpr size_t kMostPoints = 4000;  // as many as a screen has columns
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(folder / "log.jsonl", ignored)) return {};
  errno = 0;
  std::ifstream log(folder / "log.jsonl");
  if (!log && errno == ENOMEM) throw std::bad_alloc();
  if (!log) return {};
  log.exceptions(std::ios::badbit);  // otherwise lack of memory would be taken for the end of the file
  std::vector<Json> steps, validations;
  size_t every = 1, seen = 0;
  const auto member = [](const Json& from, const char* name) {
    const Json* found = from.find(name);
    return found ? *found : Json();
  };
  for (std::string line; std::getline(log, line);) {
    const std::optional<Json> event = Json::parse(line);  // the last line may be half written
    const Json* kind = event ? event->find("event") : nullptr;
    const std::string* name = kind ? kind->as<std::string>() : nullptr;
    if (!name || !event->find("step")) continue;
    if (*name == "step") {
      if (seen++ % every != 0) continue;
      steps.push_back(Json::object({{"step", member(*event, "step")}, {"loss", member(*event, "loss")}}));
      if (steps.size() < kMostPoints) continue;
      for (size_t i = 1; 2 * i < steps.size(); ++i) steps[i] = std::move(steps[2 * i]);
      steps.resize((steps.size() + 1) / 2);
      every *= 2;
    } else if (*name == "validated") {
      const Json* metric = event->find("metric");
      validations.push_back(Json::object({{"step", member(*event, "step")},
                                          {"valid_loss", member(*event, "nll")},
                                          {"metric", metric ? member(*metric, "value") : Json()}}));
    }
  }
  steps.insert(steps.end(), std::make_move_iterator(validations.begin()), std::make_move_iterator(validations.end()));
  return Json::array(std::move(steps));
}

}  // namespace heed::serve
