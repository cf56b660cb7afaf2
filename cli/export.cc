// heed export: a model in one file.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/checkpoint/export.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;

struct ExportArguments {
  ModelChoice model;
  std::string output;
  std::string precision = trained::kStored;
  bool force = false;
};

void run(const ExportArguments& c) {
  trained::expect_replaceable(c.output, c.force);
  std::string from;
  const std::optional<Dtype> dtype = trained::dtype_of(c.precision, "--precision");
  Dtype stored = Dtype::f32;
  with_checkpoint(c.model, [&](const file::Checkpoint& checkpoint) {
    stored = trained::export_model(checkpoint, c.output, dtype);
    from = checkpoint.folder().string();
  });
  std::error_code ignored;
  if (!fs::is_regular_file(c.output, ignored)) return;  // a pipe: nothing may follow the model
  print(fmt::format("'{}' holds the model of '{}' in one file of {:.1f} MB\n", c.output, from,
                    static_cast<double>(fs::file_size(c.output)) / 1e6));
  if (dtype && bytes_of(*dtype) > bytes_of(stored))
    print(fmt::format("Its numbers are those of the {} in '{}': what was rounded does not come back.\n",
                      name_of(stored), from));
}

constexpr const char* kHelp = R"(Examples:
  heed export model --output phones.heed
  heed export model --checkpoint last --output phones.heed
  heed export model --precision int8 --output small.heed
  heed predict phones.heed < source.txt

The file holds the weights, the recipe and the vocabularies: all that predict, score, evaluate, average, info, Python and
C++ need. It is in the safetensors format. An existing model of that name is replaced atomically; any other file only
with --force. Training cannot be resumed from it: keep the folder for that.)";

}  // namespace

void add_export(Program& program) {
  auto c = std::make_shared<ExportArguments>();
  Verb verb = program.verb("export", "Write a trained model to one file: weights, recipe and vocabularies");
  add_model(verb, c->model);
  verb.option("--output", c->output, "The file to write").value("FILE").required();
  verb.option(
          "--precision", c->precision,
          "Numbers in the file: float32; float16 or bfloat16, half as large; int8, a quarter; all but the first are "
          "rounded (default stored: as they are in MODEL)")
      .value("NAME")
      .one_of("precision", {"float32", "float16", "bfloat16", "int8", trained::kStored});
  verb.flag("--force", c->force, "Replace a file that is not a model");
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
