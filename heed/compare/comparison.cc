#include "heed/compare/comparison.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/checkpoint/run_folder.h"
#include "heed/compare/run.h"
#include "heed/compare/writers.h"

namespace heed::compare {

namespace {

namespace fs = std::filesystem;

/// Nobody's files are overwritten: the folder is new, or holds a comparison that is resumed.
void expect_usable(const Plan& plan, const CompareOptions& options) {
  std::error_code ignored;
  const bool used = fs::exists(options.folder, ignored) && !fs::is_empty(options.folder, ignored);
  if (!options.resume) {
    expect(!used, ErrorKind::cannot_write, "'{}' {}", options.folder.string(),
           fs::exists(options.folder / kPlanFile, ignored)
               ? "already holds a comparison: --resume continues it, --output names another folder"
               : "is not empty: --output names another folder");
    return;
  }
  if (!fs::exists(options.folder / kPlanFile, ignored)) {
    expect(!used, ErrorKind::missing, "'{}' holds no comparison to resume: it has no {}", options.folder.string(),
           kPlanFile);
    return;
  }
  // Variants and seeds may be added, but all must share one recipe.
  const Plan before = load_plan(options.folder);
  const auto mine = recipe::values_of(plan.base.settled), other = recipe::values_of(before.base.settled);
  for (const auto& [key, value] : mine) {
    const auto found = other.find(key);
    expect(key == "output.folder" || (found != other.end() && found->second == value), ErrorKind::recipe,
           "the comparison in '{}' was made with another recipe: {} is {}, was {}. Leave the change out, or name "
           "another folder with --output",
           options.folder.string(), key, value, found == other.end() ? "not there" : found->second);
  }
}

void expect_any_value(const Table& table) {
  if (table.done < table.runs || table.rows.empty() || table.rows.front().runs > 0) return;
  for (const Row& row : table.rows)
    if (row.reason.starts_with("training failed"))
      throw Error(ErrorKind::data, fmt::format("every run failed; {}: {}", row.name, row.reason));
}

}  // namespace

Compared compare(const Plan& plan, const CompareOptions& options) {
  expect_usable(plan, options);
  const file::Descriptor lock = file::RunFolder(options.folder).lock();
  save_plan(plan, options.folder);
  Results results(plan.variants.size(), std::vector<std::optional<Result>>(plan.seeds.size()));
  const auto each_run = [&](const auto& visit) {
    for (size_t seed = 0; seed < plan.seeds.size(); ++seed)
      for (size_t v = 0; v < plan.variants.size(); ++v)
        if (plan.variants[v].refusal.empty())
          if (!visit(plan.variants[v], plan.seeds[seed], results[v][seed])) return false;
    return true;
  };
  each_run([&](const Variant& variant, uint64_t seed, std::optional<Result>& result) {
    result = load_result(recipe_of_run(variant, seed, options.folder).output.folder);
    return true;
  });
  Compared compared{.table = make_table(plan, results)};
  const bool finished = each_run([&](const Variant& variant, uint64_t seed, std::optional<Result>& result) {
    if (result) return true;
    if (options.stop && options.stop->load()) return false;
    if (options.observer) options.observer->run_begins(variant, seed, compared.table);
    RunOptions how{.stop = options.stop, .observers = options.of_runs};
    if (options.observer) how.observers.push_back(options.observer);
    result = run(recipe_of_run(variant, seed, options.folder), how);
    if (!result) return false;
    compared.table = make_table(plan, results);
    write_files(plan, compared.table, results, options.folder);
    if (options.observer) options.observer->run_ended(variant, seed, *result, compared.table);
    return true;
  });
  compared.stopped = !finished;
  write_files(plan, compared.table, results, options.folder);
  expect_any_value(compared.table);
  return compared;
}

}  // namespace heed::compare
