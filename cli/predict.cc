// heed predict: lines in, outputs out, in the same order, as the lines come.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "cli/about_lines.h"
#include "cli/alignment_pictures.h"
#include "cli/counter.h"
#include "cli/input_files.h"
#include "cli/line_rules.h"
#include "cli/options.h"
#include "cli/overlay.h"
#include "cli/search_options.h"
#include "cli/terminal.h"
#include "cli/unknown_tokens.h"
#include "cli/vector_file.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/data/sound_source.h"
#include "heed/predict/json.h"
#include "heed/task/language_model/running_text.h"
#include "heed/text/tokeniser.h"

namespace heed::cli {

namespace {

using file::Json;
using predict::Output;
using predict::Prediction;

constexpr const char* kPharaoh = "pharaoh";
constexpr const char* kMatrix = "matrix";
constexpr const char* kPicture = "picture";

struct PredictArguments {
  ModelChoice model;
  std::vector<std::string> files;  // none: standard input
  SearchChoice search;
  RuleFiles rules;
  std::string alignments;  // pharaoh, matrix, picture, or empty: none
  AlignmentPictureOptions pictures;
  std::string overlay;  // a folder, or empty: none
  bool json = false, scores = false, stream = false, times = false;
  int64_t pcm = 0;            // samples of a second on standard input; 0: it is text
  bool hears = false;         // the model reads recordings
  std::string vectors;        // a file, or empty: none
  bool writes_lines = false;  // the outputs of the model may have several

  bool prints_links() const { return !alignments.empty() && alignments != kPicture; }  // in the text
  predict::JsonOptions json_options() const {
    using enum predict::AlignmentForm;
    return {.token_scores = scores,
            .alignments = !prints_links() ? none : (alignments == kMatrix ? matrix : links),
            .nbest = search.options.nbest > 1,
            .reverse = static_cast<bool>(search.options.rerank_reverse)};
  }
};

// ---------------------------------------------------------------------------------------------------------------- text

/// Tabs separate fields, so tabs in a text become blanks.
std::string without_tabs(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text;
}

/// An output that may have several lines, on one line: \n for a newline, and \\ for a backslash, so that it can be
/// undone.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n') line += "\\n";
    if (c == '\\') line += "\\\\";
    if (c != '\n' && c != '\\') line += c;
  }
  return line;
}

/// "0.12-0.48 0.60-1.04": of each word.
std::string times_of(const Output& output) {
  std::string all;
  for (const task::WordTime& each : output.times)
    all += fmt::format("{}{:.2f}-{:.2f}", all.empty() ? "" : " ", each.start, each.end);
  return all;
}

/// Score, output, alignment and times, as far as requested, separated by tabs; then the same for the next output.
std::string plain(const Prediction& prediction, const PredictArguments& c) {
  std::string line;
  const bool fields = c.scores || c.prints_links() || c.times || prediction.nbest.size() > 1;
  for (const Output& output : prediction.nbest) {
    if (&output != &prediction.nbest.front()) line += '\t';
    // What is asked of a token that is missing is how probable it is.
    if (c.scores) line += fmt::format("{:.6f}\t", prediction.filled.empty() ? output.score : std::exp(output.score));
    const std::string text = c.writes_lines ? on_one_line(output.text) : output.text;
    line += fields ? without_tabs(text) : text;
    if (c.prints_links()) line.append(1, '\t').append(predict::pharaoh(output));
    if (c.times) line.append(1, '\t').append(times_of(output));
  }
  return line + "\n";
}

// ----------------------------------------------------------------------------------------------------------------- run

std::vector<Prediction> answer(const std::vector<InputLines::Line>& lines, const predict::Predictor& predictor,
                               RuleReader& rules, predict::Options options) {
  std::vector<std::string> texts;
  texts.reserve(lines.size());
  for (const InputLines::Line& line : lines) texts.push_back(line.text);
  options.first_line = lines.front().number;
  options.line_rules = rules.next(lines.size());
  std::vector<Prediction> predictions =
      about_lines(lines.front().number, lines.back().number, [&] { return predictor.predict_all(texts, options); });
  for (size_t i = 0; i < lines.size(); ++i)
    if (lines[i].cut_off)
      predictions[i].error = fmt::format("more than {} bytes: this is not text", InputLines::kLongest);
  return predictions;
}

/// Prints what a model writes as it writes it, so that nobody waits for the end.
class TextStream {
 public:
  /// `text`: all of it so far.
  void show(std::string text) {
    constexpr std::string_view kIncomplete = "\uFFFD";  // a character that is still being put together
    while (text.ends_with(kIncomplete)) text.resize(text.size() - kIncomplete.size());
    if (!text.starts_with(shown_)) return;
    print(text.substr(shown_.size()));
    std::fflush(stdout);
    shown_ = text;
  }
  /// The rest, and the end of the line.
  void finish(const std::string& text) {
    print((text.starts_with(shown_) ? text.substr(shown_.size()) : "\n" + text) + "\n");
    shown_.clear();
  }

 private:
  std::string shown_;
};

/// Whether what was written stays: a parallel decoder, words that must or must not come and copies change it later.
bool only_grows(const PredictArguments& c, const predict::Predictor& predictor) {
  const predict::Options& o = c.search.options;
  return !predictor.model().model->parallel_generator() && o.must.empty() && o.must_not.empty() &&
         c.rules.must.empty() && c.rules.must_not.empty() && !o.copy_unknown;
}

/// What is worth knowing about an answer.
std::vector<std::string> remarks(const Prediction& prediction, const predict::Predictor& predictor) {
  std::vector<std::string> all;
  if (predictor.model().task().answers() == task::AnswerKind::filled && !prediction.nbest.empty() &&
      prediction.filled.empty())
    all.emplace_back("it has no [MASK], so nothing is filled in");
  if (!prediction.error.empty()) all.push_back(prediction.error + "; its output is empty");
  if (!prediction.nbest.empty() && !prediction.nbest.front().missing.empty())
    all.push_back(predict::missing_text(prediction.nbest.front()));
  return all;
}

/// One line after the other. What may change later is printed when it is complete.
void run_stream(InputFiles& input, const predict::Predictor& predictor, RuleReader& rules, const PredictArguments& c,
                UnknownTokens& unknown) {
  TextStream stream;
  predict::Options options = c.search.options;
  if (only_grows(c, predictor)) options.on_text = [&](int64_t, const std::string& text) { stream.show(text); };
  for (std::vector<InputLines::Line> lines; !reader_is_gone() && !(lines = input.next(1)).empty();) {
    const Prediction prediction = answer(lines, predictor, rules, options).front();
    stream.finish(prediction.text());
    for (const std::string& remark : remarks(prediction, predictor))
      warn(fmt::format("line {}: {}", lines.front().number, remark));
    unknown.add(prediction.unknown);
  }
}

std::string json_line(const InputLines::Line& line, const Prediction& prediction, const PredictArguments& c) {
  Json j = Json::object({{"line", line.number}, {"source", c.hears ? data::sound_label(line.text) : line.text}});
  predict::add_prediction(j, prediction, c.json_options());
  return j.line() + "\n";
}

/// What to print below an output; "" if pictures go to files. A line that cannot be drawn is reported.
std::string picture_of(AlignmentPictures& pictures, const InputLines::Line& line, const Prediction& prediction,
                       Counter& counter) {
  try {
    return pictures.add(line.number, line.text, prediction);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    counter.erase();
    warn(fmt::format("line {}: no picture: {}", line.number, error.what()));
    return "";
  }
}

void run_batches(InputFiles& input, const predict::Predictor& predictor, RuleReader& rules, const PredictArguments& c,
                 UnknownTokens& unknown) {
  std::optional<AlignmentPictures> pictures;
  if (c.alignments == kPicture || !c.pictures.folder.empty()) pictures.emplace(c.pictures, predictor);
  std::optional<VectorFile> vectors;
  if (!c.vectors.empty()) vectors.emplace(c.vectors);
  Counter counter("lines");
  for (std::vector<InputLines::Line> lines; !(lines = input.next(lines_at_once(c.search))).empty();) {
    const std::vector<Prediction> predictions = answer(lines, predictor, rules, c.search.options);
    std::string text;
    for (size_t i = 0; i < lines.size(); ++i) {
      for (const std::string& remark : remarks(predictions[i], predictor)) {
        counter.erase();
        warn(fmt::format("line {}: {}", lines[i].number, remark));
      }
      unknown.add(predictions[i].unknown);
      if (!c.overlay.empty())
        write_overlay(c.overlay, lines[i].number, predictor.model().task().parts_of(lines[i].text).picture,
                      predictions[i]);
      if (vectors) {
        vectors->add(predictions[i].vector);
        continue;
      }
      text += c.json ? json_line(lines[i], predictions[i], c) : plain(predictions[i], c);
      if (pictures) text += picture_of(*pictures, lines[i], predictions[i], counter);
    }
    print(text);
    if (reader_is_gone()) return;
    counter.add(std::ssize(lines));
  }
  counter.erase();
  if (vectors) vectors->finish();
}

void check_stream(const PredictArguments& c, const predict::Predictor& predictor) {
  if (const task::Task& task = predictor.model().task(); !task.writes())
    throw Error(fmt::format("--stream shows an output while it is written; this model {}: leave --stream out",
                            task.answers() == task::AnswerKind::label    ? "gives labels"
                            : task.answers() == task::AnswerKind::vector ? "gives vectors"
                                                                         : "fills in tokens, all at once"));
  const bool one_text = !c.json && !c.scores && !c.times && c.alignments.empty() && c.overlay.empty() &&
                        c.search.options.nbest == 1 && c.search.options.beam <= 1;
  if (!one_text)
    throw Error(
        "--stream shows an output while it is written: it cannot be combined with --json, --scores, --times, "
        "--alignments, "
        "--pictures, --overlay, --nbest or --beam");
}

/// --pictures alone means --alignments=picture.
void settle_alignments(PredictArguments& c) {
  if (c.alignments == kMatrix && !c.json) throw Error("--alignments=matrix needs --json");
  const bool files = !c.pictures.folder.empty();
  if (files && c.alignments.empty()) c.alignments = kPicture;
  if (c.alignments == kPicture && c.json && !files)
    throw Error("--alignments=picture draws below each output, which is no JSON: --pictures FOLDER writes files");
}

/// Of a model that reads recordings: their files may be given as they are.
void take_recordings(InputFiles& input, const predict::Predictor& predictor, PredictArguments& c) {
  c.hears = predictor.model().task().sources() == task::SourceKind::sound;
  if (!c.hears && (c.times || c.pcm > 0))
    throw Error(fmt::format("{} is for models that read recordings; this one does the task {}",
                            c.times ? "--times" : "--pcm", predictor.model().description.model.task));
  if (c.hears) input.take_names(data::names_sound);
  if (c.pcm > 0) input.take_pcm(c.pcm);
}

void run(PredictArguments& c) {
  settle_alignments(c);
  InputFiles input(c.files);
  RuleReader rules(c.rules);
  const predict::Predictor predictor = load_predictor(c.model);
  load_reverse(c.search);
  take_recordings(input, predictor, c);
  c.search.options.alignments = !c.alignments.empty() || !c.overlay.empty() || c.times;
  check(c.search.options, predictor);
  if (c.stream) check_stream(c, predictor);
  if (!c.vectors.empty() && predictor.model().task().answers() != task::AnswerKind::vector)
    throw Error(fmt::format("--vectors is for models that give vectors; this one does the task {}",
                            predictor.model().description.model.task));
  if (!c.vectors.empty() && (c.json || c.stream)) throw Error("--vectors writes a file: leave --json and --stream out");
  const task::Description& model = predictor.model().description;
  c.writes_lines = model.task().answers() == task::AnswerKind::continuation && task::has_lines(model.answers.documents);
  UnknownTokens unknown(predictor.source().kind());
  (c.stream ? run_stream : run_batches)(input, predictor, rules, c, unknown);
  if (reader_is_gone()) return;
  rules.finish();
  warn_about_reverse(c.search);
  if (const std::string said = unknown.text(); !said.empty()) warn(said);
}

constexpr const char* kHelp = R"(Examples:
  heed predict model < source.txt > output.txt
  heed predict model first.txt second.txt.gz > output.txt
  heed predict model --beam 5 --length-penalty 0.6 < source.txt
  echo '5 mars 2024' | heed predict model --nbest 3 --scores
  heed predict model --sample --temperature 0.8 --top-p 0.95 --seed 7 < source.txt
  heed predict model --json --alignments=matrix < source.txt
  heed predict model --alignments=picture < source.txt
  heed predict model --pictures looked < source.txt > output.txt
  heed predict model --must Hund --must-not 'ein Tier' --prefix Der < source.txt
  heed predict model --must-file terms.tsv source.txt
  heed predict model --beam 8 --groups 4 --nbest 4 < source.txt
  heed predict model --sample --distinct --nbest 5 < source.txt
  heed predict model --ensemble second,third --beam 5 < source.txt
  heed predict model --sample --mbr chrf < source.txt
  heed predict en-de --beam 10 --rerank-reverse de-en < source.txt
  echo 'Once upon' | heed predict language-model --sample --temperature 0.8 --stream
  printf 'picture.png\tcircle\n' | heed predict model --overlay looked
  heed predict model call.wav --times
  arecord -t raw -f S16_LE -r 16000 -d 5 | heed predict model --pcm 16000

Every input line gives one output line, in the same order. The output is empty for an empty line, and for a line that
cannot be used (invalid UTF-8, too long), which is reported on standard error. With --scores, --alignments or --nbest,
an output line has fields separated by tabs: score, output, alignment, then the same for the next best.
If lines contain characters or words that are not in the model's vocabulary, standard error says so at the end: their
outputs are a guess. A word of --must that could not come before --max-length is reported there too.
An output has no token that is unknown to the vocabulary unless --allow-unknown allows it, which shows it as ⁇;
--copy-unknown allows it and copies a source token instead of each.
A model of masked tokens fills in each [MASK] of a line; --nbest gives the tokens that are next likeliest there, and
--scores says how probable they are.
A model of vectors prints each as a JSON list of numbers; --vectors FILE.npy writes all of them as a NumPy array.
A model of running text goes on with each line, also with an empty one. What it writes may have several lines: they are on
one line of output, with \n for each newline and \\ for each backslash. --json keeps them, and --stream prints them.
A model that reads recordings takes their files (WAV, FLAC) as FILES, or a line with the name of one for each.
Lines are answered as they come: a program may write one and read its answer before it writes the next.
--stream prints an output token by token; where what was written may still change (parallel decoders, --must, --must-not,
--copy-unknown), it is printed when it is complete.)";

}  // namespace

void add_predict(Program& program) {
  auto c = std::make_shared<PredictArguments>();
  Verb verb = program.verb("predict", "Run a trained model on lines of text");
  add_model(verb, c->model);
  add_ensemble(verb, c->model);
  add_precision(verb, c->model);
  verb.option("FILES", c->files, "Text files to read in turn, plain or gzip; - is standard input (default -)")
      .value("");
  add_search(verb, c->search);
  using task::DecodingGroup;
  add_decoding(verb, c->search, {DecodingGroup::outputs, DecodingGroup::sampling, DecodingGroup::rules});
  add_rule_files(verb, c->rules);
  add_reranking(verb, c->search);
  verb.flag("--alignments", kPharaoh, c->alignments,
            "For each token, the source token with the most attention, as i-j; =picture draws all weights below each "
            "output; with --json, =matrix gives them as numbers")
      .one_of("kind of alignments", {kPharaoh, kMatrix, kPicture});
  const Option pictures =
      verb.option("--pictures", c->pictures.folder, "Draw the weights of each line's best output to FOLDER/LINE.svg")
          .value("FOLDER");
  verb.option("--picture-format", c->pictures.format, "Of --pictures: svg or png (default svg)")
      .value("FORMAT")
      .one_of("format of pictures", {"svg", "png"})
      .needs(pictures);
  add_scale(verb, c->pictures.scale);
  add_decoding(verb, c->search, {DecodingGroup::alignment});
  verb.option(
          "--vectors", c->vectors,
          "Models of vectors: write them to FILE.npy, [lines, width], instead of printing them; a line without one is "
          "NaN")
      .value("FILE");
  verb.flag("--stream", c->stream, "Print each output while it is written, line after line");
  verb.option(
          "--overlay", c->overlay,
          "Pictures: write each to FOLDER/LINE.png with the weights laid over it, once for each token of the output")
      .value("FOLDER");
  verb.flag("--times", c->times,
            "Recordings: print when each word of an output was said, in seconds, by what the model attended to");
  verb.option("--pcm", c->pcm,
              "Recordings: standard input is one, 16-bit PCM (little-endian, one channel) of this rate")
      .value("RATE");
  verb.flag("--scores", c->scores, "Print a score before each output: log p, normalised by --length-penalty");
  add_json(verb, c->json, "Print one JSON object per line");
  add_threads(verb);
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
