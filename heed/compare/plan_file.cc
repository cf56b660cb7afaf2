// A plan in a file: what is compared, so that it can be resumed without its command line.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "heed/base/atomic.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/compare/plan.h"
#include "heed/compare/probe.h"
#include "heed/task/description.h"
#include "heed/task/version_1.h"
#include "heed/train/training_setup.h"

namespace heed::compare {

void save_plan(const Plan& plan, const std::filesystem::path& folder) {
  using file::Json;
  std::vector<std::string> same;  // "variant", "that it is the same as", ...
  for (const Variant& variant : plan.variants)
    if (!variant.same_as.empty()) same.insert(same.end(), {variant.name, variant.same_as});
  const Json json = Json::object({{"version", task::kDescriptionVersion},
                                  {"given", recipe::short_text_of(plan.base.given)},
                                  {"recipe", recipe::short_text_of(plan.base.settled)},
                                  {"attention", plan.request.attention},
                                  {"over", plan.request.over},
                                  {"seeds", plan.request.seeds},
                                  {"same", same}});
  file::write_file(folder / kPlanFile, json.text(2) + "\n");
}

Plan load_plan(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kPlanFile;
  constexpr uint64_t kLargest = uint64_t{1} << 26;
  const std::optional<file::Json> json = file::Json::parse(file::read_text(path, kLargest));
  expect(json.has_value(), ErrorKind::file, "'{}' is not JSON: it was changed or damaged", path.string());
  const auto member = [&](const char* name, auto type) {
    using Type = decltype(type);
    const file::Json* found = json->find(name);
    expect(found && found->as<Type>(), ErrorKind::file, "'{}': '{}' is missing or of the wrong kind", path.string(),
           name);
    return *found->as<Type>();
  };
  const auto texts = [&](const char* name) {
    std::vector<std::string> all;
    for (const file::Json& element : member(name, file::Json::Elements())) {
      expect(element.as<std::string>(), ErrorKind::file, "'{}': '{}' should hold texts", path.string(), name);
      all.push_back(*element.as<std::string>());
    }
    return all;
  };
  const auto seeds = member("seeds", uint64_t());
  expect(seeds >= 1 && seeds <= static_cast<uint64_t>(kMostSeeds), ErrorKind::file, "'{}': 'seeds' cannot be {}",
         path.string(), seeds);
  try {
    const auto recipe_of = [&](const char* name) {
      const std::string text = member(name, std::string());
      return recipe::parse(json->find("version") ? text : task::with_words_of_today(text), "");
    };
    PlanBase base = {recipe_of("given"), recipe_of("recipe")};
    const std::vector<std::string> same = json->find("same") ? texts("same") : std::vector<std::string>();
    for (size_t i = 0; i + 1 < same.size(); i += 2) base.same[same[i]] = same[i + 1];
    return make_plan(base, {texts("attention"), texts("over"), static_cast<int64_t>(seeds)});
  } catch (const Error& error) {
    throw Error(ErrorKind::file, fmt::format("'{}' cannot be used: {}", path.string(), error.what()));
  }
}

std::optional<PlanBase> settled_before(const Recipe& given, const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / kPlanFile, ignored)) return {};
  PlanBase before = load_plan(folder).base;
  if (recipe::short_text_of(given) != recipe::short_text_of(before.given)) return {};
  before.probe = std::make_shared<const Probe>(train::prepare(before.settled, {}));
  return before;
}

}  // namespace heed::compare
