// heed scenes: pictures of the drawn tasks as files, to look at and to try models on.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/base/atomic.h"
#include "heed/base/disk.h"
#include "heed/base/error.h"
#include "heed/data/picture_source.h"
#include "heed/data/scenes.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;

struct ScenesArguments {
  std::string folder;
  int64_t count = 10;
  uint64_t seed = 0;
  bool captions = false;
};

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(ErrorKind::cannot_write,
                fmt::format("cannot make the folder '{}': {}", folder.string(), error.message()));
}

/// The test split: no training on the built-in task has seen these.
void run(const ScenesArguments& c) {
  make_folder(c.folder);
  const data::Pairs pairs = c.captions ? data::scene_captions(c.count, c.seed, data::Split::test)
                                       : data::scene_questions(c.count, c.seed, data::Split::test);
  std::string table;
  for (size_t i = 0; i < pairs.line.size(); ++i) {
    const auto [name, question] = data::cut_picture_question(pairs.source[i]);
    const data::Scene scene = data::scene_of(*data::scene_number(name));
    const std::string file = fmt::format("scene-{}.png", *data::scene_number(name));
    file::write_file(fs::path(c.folder) / file, data::png_of(data::draw(scene)));
    if (c.captions) {
      table += fmt::format("{}\t{}\n", file, pairs.target[i]);
      continue;
    }
    const data::DrawnShape* shape = scene.shape(question);
    const std::string place = shape ? fmt::format("{}", shape->row * data::kScenePlaces + shape->column) : "-";
    table += fmt::format("{}\t{}\t{}\t{}\n", file, question, pairs.target[i], place);
  }
  const fs::path list = fs::path(c.folder) / "scenes.tsv";
  file::write_file(list, table);
  print(fmt::format("{} pictures and '{}'\n", pairs.size(), list.string()));
}

constexpr const char* kHelp = R"(Examples:
  heed scenes pictures
  heed scenes pictures --count 1000 --seed 7
  heed scenes captioned --captions
  heed train pictures/scenes.tsv --set model.task=image

FOLDER/scenes.tsv has a line for each picture: its file, the name of a shape, the colour of that shape, and its place among
the 6 x 6 of the canvas, counted from 0, row by row. Where the picture has no such shape, the colour is "none" and the
place "-". With --captions: the file and what it shows, from left to right. The pictures are those that training with
data.task = "scenes" never sees.)";

}  // namespace

void add_scenes(Program& program) {
  auto c = std::make_shared<ScenesArguments>();
  Verb verb =
      program.verb("scenes", "Draw pictures of shapes, with questions and answers: data for models of pictures");
  verb.option("FOLDER", c->folder, "Where to write them; it is made if it does not exist").value("").required();
  verb.option("--count", c->count, "Number of pictures (default 10)")
      .value("N")
      .from_to(int64_t{1}, int64_t{1'000'000});
  add_seed(verb, c->seed, "Random seed");
  verb.flag("--captions", c->captions, "Captions instead of questions and answers");
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
