// heed import: a model that another program trained, as a model of heed.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/checkpoint/export.h"
#include "heed/checkpoint/save.h"
#include "heed/imports/importer.h"

namespace heed::cli {

namespace {

struct Chosen {
  std::string from, output, tokeniser;
  std::string precision = "float32";
  bool force = false;
};

void show(const imports::Imported& imported, const imports::Importer& importer, const std::string& from) {
  const model::Options& m = imported.model.description.model;
  const task::Vocabularies& v = imported.model.vocabularies;
  std::string text = fmt::format("'{}': {}\n", from, importer.name);
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<13} {}\n", name, value);
  };
  for (const auto& [name, value] : imported.found) line(name, value);
  const bool pairs = v.source != v.target && imported.model.task().writes_texts_for_texts();
  const std::string layers =
      pairs ? fmt::format("{} of the encoder, {} of the decoder", m.encoder_layers, m.decoder_layers)
      : imported.model.task().encoder_part(m) ? fmt::format("{}", m.encoder_layers)
                                              : fmt::format("{}", m.decoder_layers);
  line("layers", layers);
  line("width", fmt::format("{}, {} heads", m.width, m.attention.heads));
  line("tokens",
       pairs ? fmt::format("{} ({}) to {} ({})", v.source->size(), v.source->kind(), v.target->size(), v.target->kind())
             : fmt::format("{} ({})", v.target->size(), v.target->kind()));
  line("parameters", fmt::format("{}", imported.model.parameters->count()));
  for (const std::string& left : imported.left) line("left out", left);
  print(text);
}

void run(const Chosen& c) {
  trained::expect_replaceable(c.output, c.force);
  const Dtype dtype = value_of(kDtypes, c.precision, "--precision");
  const imports::Importer* importer = nullptr;
  const imports::Imported imported = imports::read(c.from, {.tokeniser = c.tokeniser}, &importer);
  trained::save_model(imported.model, c.output, {.one_file = true, .dtype = dtype});
  show(imported, *importer, c.from);
  std::error_code ignored;
  print(fmt::format("'{}' holds it in {:.1f} MB\n", c.output,
                    static_cast<double>(std::filesystem::file_size(c.output, ignored)) / 1e6));
}

std::string help() {
  std::string text = "Formats:\n";
  for (const imports::Importer* importer : imports::all())
    text += fmt::format("  {:<12} {}\n", importer->name, importer->meaning);
  return text + R"(
Examples:
  heed import opus-ct2 --output opus.heed
  heed import gpt2 --output gpt2.heed
  echo 'Once upon a time' | heed predict gpt2.heed

The format is recognised by the files. Every tensor is used, or named with the reason why not; a model that would answer
otherwise here is refused, with what it would need. The files are not trusted, and nothing in them is run.
docs/importing.md has what was compared with the programs that the models come from, and how closely they agree.)";
}

}  // namespace

void add_import(Program& program) {
  auto c = std::make_shared<Chosen>();
  Verb verb = program.verb("import", "Take over a model that another program trained");
  verb.option("FROM", c->from, "The folder or file of the model").required();
  verb.option("--output", c->output, "The file to write").value("FILE").required();
  verb.option("--tokeniser", c->tokeniser, "Its tokeniser, where it is not beside the model").value("FILE");
  verb.option(
          "--precision", c->precision,
          "Numbers in the file: float32 (default); float16 or bfloat16, half as large; int8, a quarter; all but the "
          "first are rounded")
      .value("NAME")
      .one_of("precision", {"float32", "float16", "bfloat16", "int8"});
  verb.flag("--force", c->force, "Replace a file that is not a model");
  verb.footer(help());
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
