// heed average: the mean of the weights of several checkpoints, often better than each of them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/checkpoint/average.h"
#include "heed/checkpoint/run_folder.h"
#include "heed/checkpoint/save.h"

namespace heed::cli {

namespace {

struct AverageArguments {
  std::vector<std::string> folders;
  std::string output;
  int64_t last = 0;  // 0: all
};

/// A checkpoint stands for itself, a run folder for its last checkpoints.
std::vector<file::Checkpoint> checkpoints_of(const AverageArguments& c) {
  std::vector<file::Checkpoint> all;
  for (const std::string& folder : c.folders) {
    const std::filesystem::path path(folder);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      throw Error(ErrorKind::missing, fmt::format("there is no model '{}'", folder));
    std::vector<std::filesystem::path> found;
    if (!std::filesystem::is_directory(path, ignored) || std::filesystem::exists(path / "MANIFEST.json", ignored))
      found.push_back(path);
    else
      for (const std::string& name : file::RunFolder(path).names()) found.push_back(path / name);
    if (found.empty()) throw Error(ErrorKind::file, fmt::format("'{}' holds no checkpoint", folder));
    if (c.last > 0 && found.front() != path) {
      if (std::ssize(found) < c.last)
        throw Error(ErrorKind::data,
                    fmt::format("'{}' holds {} checkpoints, but --last asks for {}", folder, found.size(), c.last));
      found.erase(found.begin(), found.end() - c.last);
    }
    for (const std::filesystem::path& one : found) all.push_back(file::Checkpoint::open(one, file::Purpose::run));
  }
  return all;
}

void run(const AverageArguments& c) {
  std::error_code ignored;
  // A dangling link exists too, and is not ours to replace.
  if (std::filesystem::exists(std::filesystem::symlink_status(c.output, ignored)))
    throw Error(ErrorKind::cannot_write, fmt::format("'{}' already exists: --output takes a new folder", c.output));
  const std::vector<file::Checkpoint> checkpoints = checkpoints_of(c);
  std::vector<std::string> names;
  names.reserve(checkpoints.size());
  for (const file::Checkpoint& checkpoint : checkpoints) names.push_back(checkpoint.name());
  trained::save_model(trained::average(checkpoints), c.output);
  print(fmt::format("'{}' is the mean of {} checkpoints: {}\n", c.output, names.size(), fmt::join(names, ", ")));
}

constexpr const char* kHelp = R"(Examples:
  heed average model --last 3 --output averaged
  heed average model/step-000400 model/step-000500 --output averaged
  heed predict averaged < source.txt

All must be checkpoints of the same model, with the same vocabularies. The result is a checkpoint for predict, score,
evaluate and info; training cannot be resumed from it.)";

}  // namespace

void add_average(Program& program) {
  auto c = std::make_shared<AverageArguments>();
  Verb verb = program.verb("average", "Average the weights of several checkpoints into one model");
  verb.option("FOLDER", c->folders, "A training folder, checkpoints, or files from heed export").value("").required();
  verb.option("--last", c->last, "Only the last N checkpoints of a training folder (default: all)")
      .value("N")
      .from_to(int64_t{1}, int64_t{1'000'000});
  verb.option("--output", c->output, "A new folder for the result").value("FOLDER").required();
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
