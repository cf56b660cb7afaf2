#include "cli/options.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/exit_code.h"
#include "cli/verbs.h"
#include "heed/file/run_folder.h"
#include "heed/tensor/error.h"

namespace heed::cli {

namespace {

/// CLI11 has no place for what an option may be.
std::map<const CLI::Option*, std::vector<std::string>>& all_offered() {
  static std::map<const CLI::Option*, std::vector<std::string>> words;
  return words;
}

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

void add_threads(CLI::App& verb) {
  verb.add_option_function<int>(
          "--threads", [](int threads) { omp_set_num_threads(threads); }, "Threads; else OMP_NUM_THREADS, or all cores")
      ->type_name("N")
      ->check(in_range(1, 1024));
}

void add_json(CLI::App& verb, bool& json, const std::string& meaning) { verb.add_flag("--json", json, meaning); }

void add_seed(CLI::App& verb, uint64_t& seed, const std::string& meaning) {
  verb.add_option("--seed", seed, fmt::format("{}; else {}", meaning, seed))->type_name("N");
}

CLI::Option* one_of(CLI::Option* option, const char* what, std::vector<std::string> words) {
  const auto wrong = [what, words](const std::string& word) { return complaint(what, word, words); };
  return offer(option, words)->check(CLI::Validator(wrong, ""));
}

CLI::Option* offer(CLI::Option* option, std::vector<std::string> words) {
  all_offered()[option] = std::move(words);
  return option;
}

std::span<const std::string> offered(const CLI::Option* option) {
  const auto found = all_offered().find(option);
  return found == all_offered().end() ? std::span<const std::string>() : found->second;
}

void add_model(CLI::App& verb, ModelChoice& choice, bool required) {
  verb.add_option("MODEL", choice.folder, "The folder of a training, or one checkpoint")
      ->type_name("")
      ->required(required);
  offer(verb.add_option("--checkpoint", choice.checkpoint,
                        "Which one of the folder: best, last, or a name such as step-000500; else best")
            ->type_name("NAME"),
        {"best", "last"});
}

namespace {

std::vector<std::string> checkpoints_of(const std::filesystem::path& folder) {
  std::vector<std::string> names = file::RunFolder(folder).names();
  names.insert(names.begin(), {"best", "last"});
  return names;
}

void expect_there(const ModelChoice& choice) {
  if (!is_there(choice.folder)) throw Failure(kNoInput, fmt::format("there is no model '{}'", choice.folder));
  if (is_there(std::filesystem::path(choice.folder) / "MANIFEST.json")) return;
  const std::vector<std::string> names = checkpoints_of(choice.folder);
  if (names.size() == 2) throw Failure(kData, fmt::format("'{}' holds no checkpoint", choice.folder));
  if (const std::string wrong = complaint("checkpoint", choice.checkpoint, names); !wrong.empty())
    throw Failure(kNoInput, fmt::format("'{}': {}", choice.folder, wrong));
}

}  // namespace

file::Checkpoint open_checkpoint(const ModelChoice& choice) {
  expect_there(choice);
  try {
    return train::open_checkpoint(choice.folder, choice.checkpoint);
  } catch (const Error& error) {
    throw Failure(kData, error.what());
  }
}

train::TrainedModel load_model(const ModelChoice& choice) {
  const file::Checkpoint checkpoint = open_checkpoint(choice);
  try {
    return train::load_model(checkpoint);
  } catch (const Error& error) {
    throw Failure(kData, error.what());
  }
}

std::string readable(const std::string& path) {
  if (path == "-") return "/dev/stdin";
  if (!is_there(path)) throw Failure(kNoInput, fmt::format("there is no file '{}'", path));
  return path;
}

}  // namespace heed::cli
