// What a comparison trains: the same model several times, each time with another attention or another value of a key.
//
//   recipe as given -> settle() -> the base: every open key chosen once, to fit the data
//   base + names of mechanisms + values of keys -> make_plan() -> variants, each trained with every seed
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/train/recipe/recipe.h"

namespace heed::compare {

/// What is compared.
struct Request {
  /// Mechanisms by name ("additive"), or several parts joined by + ("additive+sparsemax+local_p"). Empty, with an empty
  /// `over` too: the whole catalogue.
  std::vector<std::string> attention = {};
  /// Keys of the recipe with their values: "model.width=64,128". With several of these, every combination.
  std::vector<std::string> over = {};
  int64_t seeds = 1;  // train.seed of the recipe, and those after it

  bool operator==(const Request&) const = default;
};

inline constexpr int64_t kMostSeeds = 1000;
inline constexpr size_t kMostVariants = 10'000;

class Probe;  // probe.h

/// What every variant gets the same of, where the recipe limits the time (stop.minutes).
enum class Same {
  updates,  // as many as the recipe as it is makes in that time
  time,     // as many as each makes
};

/// What all variants have in common.
struct PlanBase {
  recipe::Recipe given;    // as it was given; some keys may be open
  recipe::Recipe settled;  // with every key set
  /// Finds variants that are the same model; null: they are known.
  std::shared_ptr<const Probe> probe = {};
  std::map<std::string, std::string> same = {};  // known: a variant and the earlier one that it is the same as
};

/// Reads the data to choose the keys that the recipe leaves open. Throws as train::prepare().
PlanBase settle(const recipe::Recipe& given, Same same = Same::updates);
/// That of the comparison in this folder, if there is one of this very recipe: how many updates fit into some minutes
/// is found out once.
std::optional<PlanBase> settled_before(const recipe::Recipe& given, const std::filesystem::path& folder);

struct Variant {
  std::string name;                   // "additive", "model.width=64", "additive, model.width=64"
  std::string folder;                 // of its runs, below that of the comparison
  std::vector<std::string> settings;  // what differs from the base: "attention.score=additive"
  recipe::Recipe recipe;              // with the first seed; not if it is refused
  std::string refusal = {};           // why it is not trained; empty: it is
  std::string same_as = {};           // then: the earlier variant that is the same model
};

struct Plan {
  PlanBase base;
  Request request;
  std::vector<Variant> variants;
  std::vector<uint64_t> seeds;

  int64_t runs() const;  // that are trained
};

/// "seed 1", "seeds 1 to 3"
std::string seeds_text(const Plan& plan);

/// Throws Error for a name, a key or a value that does not exist, naming the nearest: before the data is read.
void check_request(const recipe::Recipe& recipe, const Request& request);

/// Throws as check_request(), and RecipeError if every variant is refused. A variant
/// that exists but that the model cannot use, or that is the same as an earlier one by its keys or by what it computes
/// (PlanBase::probe), is refused with the reason.
///
/// Options that belong to the attention of the recipe and that a variant does not read (`hidden` of additive, beside
/// dot) do not count against it: they take their defaults.
Plan make_plan(const PlanBase& base, const Request& request);

/// The recipe of one run, in its folder below `output`.
recipe::Recipe recipe_of_run(const Variant& variant, uint64_t seed, const std::filesystem::path& output);

// The plan in a file, so that a comparison can be resumed without its command line. Throws Error, naming the file, if
// it cannot be used.
inline constexpr const char* kPlanFile = "plan.json";
void save_plan(const Plan& plan, const std::filesystem::path& folder);
Plan load_plan(const std::filesystem::path& folder);

}  // namespace heed::compare
