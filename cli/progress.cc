#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "cli/columns.h"
#include "cli/exit_code.h"
#include "cli/order.h"

namespace heed::cli {

namespace {

constexpr std::chrono::milliseconds kRedraw(100);  // ten times a second looks smooth
constexpr std::chrono::seconds kPlainLine(10);     // between two plain progress lines

std::string percent(double share) { return fmt::format("{:.2f} %", 100.0 * share); }

/// `columns` wide, filled to `share` in eighths of a column.
std::string bar(double share, size_t columns) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths =
      static_cast<size_t>(std::lround(std::clamp(share, 0.0, 1.0) * 8.0 * static_cast<double>(columns)));
  std::string text;
  for (size_t i = 0; i < eighths / 8; ++i) text += "█";
  text += kEighths[eighths % 8];
  const size_t used = eighths / 8 + (eighths % 8 != 0 ? 1 : 0);
  for (size_t i = used; i < columns; ++i) text += "·";
  return text;
}

/// What the loss means: for labels the share that is right says more than a perplexity.
std::string quality(double nll, double accuracy, bool labels) {
  if (labels) return "right " + percent(accuracy);
  return fmt::format("perplexity {:.3f}", std::exp(std::min(nll, 99.0)));
}

std::string speed(const train::Started& started, const train::Progress& p) {
  return fmt::format("{} {}s/s", grouped(std::llround(p.tokens_per_second)), started.prediction);
}

std::string evaluation_text(const train::Evaluation& e, bool labels) {
  std::string text = fmt::format("loss {:.4f}  {}", e.nll, quality(e.nll, e.token_accuracy, labels));
  if (labels) {
    if (e.task && e.task->name != "accuracy") text += fmt::format("  {} {:.2f}", e.task->name, e.task->value);
    return text;
  }
  if (e.bits_per_character > 0) text += fmt::format("  bits per character {:.4f}", e.bits_per_character);
  if (e.exact.count > 0)
    text += fmt::format("  right {}  character errors {}", percent(e.exact.rate()), percent(e.characters.rate()));
  if (e.task && e.task->name != "exact match" && e.task->name != "CER")
    text += fmt::format("  {} {:.2f}", e.task->name, e.task->value);
  return text;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(std::max(seconds, 0.0)));
  const int64_t h = whole / 3600, m = whole / 60 % 60, s = whole % 60;
  return h > 0 ? fmt::format("{}:{:02}:{:02}", h, m, s) : fmt::format("{}:{:02}", m, s);
}

std::string grouped(int64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    text += digits[i];
    const size_t left = digits.size() - 1 - i;
    if (left > 0 && left % 3 == 0 && digits[i] != '-') text += ',';
  }
  return text;
}

std::string counted(int64_t number, const std::string& noun) {
  return grouped(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string bar_text(const train::StepReport& r, const train::Progress& p, const train::Started& s, size_t width) {
  // The most important parts come first: a narrow terminal drops the rest.
  std::vector<std::string> parts;
  if (p.share > 0) parts.push_back(fmt::format("{:3.0f} %", 100.0 * p.share));
  if (p.seconds_left >= 0) parts.push_back(duration_text(p.seconds_left) + " left");
  parts.push_back(fmt::format("loss {:.3f}", r.nll));
  if (r.reward) parts.push_back(fmt::format("reward {:.3f}", *r.reward));
  parts.push_back(speed(s, p));
  parts.push_back(quality(r.nll, r.accuracy, s.labels > 0));
  parts.push_back(fmt::format("update {}", grouped(r.step)));
  parts.push_back(fmt::format("epoch {}", r.epoch));
  parts.push_back(fmt::format("rate {:.1e}", r.rate));
  constexpr size_t kBar = 24, kShortest = 8;
  std::string text = parts.front();
  const size_t for_bar = p.share > 0 && width >= 60 ? kBar + 2 : p.share > 0 && width >= 40 ? kShortest + 2 : 0;
  if (for_bar > 0) text += "  " + bar(p.share, for_bar - 2);
  size_t used = columns_of(text);
  for (size_t i = 1; i < parts.size(); ++i) {
    if (used + 2 + parts[i].size() >= width) break;
    text += "  " + parts[i];
    used += 2 + parts[i].size();
  }
  return text;
}

ProgressView::ProgressView(const Terminal& terminal, ProgressOptions options)
    : terminal_(terminal), options_(options) {}

ProgressView::~ProgressView() {
  // An error may end the training while a bar is shown.
  if (!bar_there_) return;
  std::fputs("\r\033[K", stdout);
  std::fflush(stdout);
}

/// A full disk behind standard output is no reason to end the training, or to hide its warnings. At the end the program
/// writes there once more, and its exit code says that it could not.
void ProgressView::show(const std::string& text) {
  if (silent_) return;
  try {
    print(text);
  } catch (const OutputFailure& failure) {
    silent_ = true;
    bar_there_ = false;
    warned(fmt::format("{}; the training continues without printing progress", failure.what()));
  }
}

void ProgressView::erase() {
  if (std::exchange(bar_there_, false)) show(order("\r\033[K"));
}

void ProgressView::say(const std::string& line) {
  erase();
  show(line + "\n");
}

void ProgressView::draw(const std::string& text) {
  bar_there_ = true;
  show(order("\r") + text + order("\033[K"));
}

void ProgressView::preparing(const std::string& what) {
  if (terminal_.interactive()) draw(terminal_.faint(what + " ..."));
}

void ProgressView::chose(const std::vector<task::Suggestion>& chosen) {
  say("Chosen to fit the data (also in recipe.toml, to edit):");
  size_t widest = 0;
  for (const task::Suggestion& each : chosen) widest = std::max(widest, each.key.size() + each.value.size() + 3);
  for (const task::Suggestion& each : chosen) {
    const std::string setting = each.key + " = " + each.value;
    const std::string blanks(widest - setting.size() + 2, ' ');
    say("  " + setting + (each.why.empty() ? "" : blanks + terminal_.faint(each.why)));
  }
}

void ProgressView::started(const train::Started& s) {
  if (s.resumed_from > 0) say(fmt::format("resuming after update {}", grouped(s.resumed_from)));
  started_ = s;
  const std::string vocabularies =
      s.labels > 0
          ? fmt::format("{}, a vocabulary of {} tokens", counted(s.labels, "label"), grouped(s.source_tokens))
          : fmt::format("vocabularies of {} and {} tokens", grouped(s.source_tokens), grouped(s.target_tokens));
  say(fmt::format("{} for training, {} for validation; {}", counted(s.examples, s.example), grouped(s.valid_examples),
                  vocabularies));
  say(fmt::format("{} with {} parameters; {} per epoch", s.model, grouped(s.parameters),
                  counted(s.updates_per_epoch, "update")));
  last_line_ = last_drawn_ = Clock::now() - kPlainLine;
}

void ProgressView::warned(const std::string& text) {
  erase();
  const std::string trimmed = text.substr(0, text.find_last_not_of('\n') + 1);
  note(fmt::format("heed: {}\n", trimmed));
}

void ProgressView::stepped(const train::StepReport& r, const train::Progress& p) {
  const Clock::time_point now = Clock::now();
  if (terminal_.interactive()) {
    if (now - last_drawn_ < kRedraw) return;
    last_drawn_ = now;
    draw(bar_text(r, p, started_, terminal_.width()));
    return;
  }
  if (now - last_line_ < kPlainLine) return;
  last_line_ = now;
  std::string line =
      fmt::format("update {}  epoch {}  loss {:.4f}{}  {}  rate {:.2e}  {}", r.step, r.epoch, r.nll,
                  r.reward                          ? fmt::format("  reward {:.4f}", *r.reward)
                  : std::abs(r.loss - r.nll) > 1e-3 ? fmt::format(" ({:.4f} with label smoothing)", r.loss)
                                                    : "",
                  quality(r.nll, r.accuracy, started_.labels > 0), r.rate, speed(started_, p));
  if (p.seconds_left >= 0) line += fmt::format("  {} left", duration_text(p.seconds_left));
  say(line);
}

void ProgressView::skipped(const train::StepReport& r) {
  warned(fmt::format("update {} was skipped: {}", r.step, r.skipped));
}

void ProgressView::validating(int64_t) {
  if (terminal_.interactive()) draw(terminal_.faint("validating ..."));
}

void ProgressView::validated(const train::Validated& v, const train::Progress& p) {
  const std::string mark = v.is_best ? terminal_.green("  best so far") : "";
  say(fmt::format("{}  update {}  {}{}", duration_text(p.seconds), grouped(v.step),
                  terminal_.bold(evaluation_text(v.evaluation, started_.labels > 0)), mark));
  if (!options_.samples) return;
  for (const train::Sample& s : v.evaluation.samples) {
    if (s.source.empty() && s.reference.empty()) {  // text that the model wrote by itself
      std::string_view text = s.output;
      for (int lines = 0; lines < 4 && !text.empty(); ++lines) {
        const size_t end = std::min(text.find('\n'), text.size());
        say("  " + terminal_.faint("| ") + isolated(cut_to(std::string(text.substr(0, end)), terminal_.width() - 4)));
        text.remove_prefix(std::min(end + 1, text.size()));
      }
      continue;
    }
    const bool right = s.output == s.reference;
    const size_t room = terminal_.interactive() ? (terminal_.width() - 12) / 2 : 200;
    say(fmt::format("  {} {}  {}  {}", right ? " " : terminal_.red("x"), isolated(cut_to(s.source, room)),
                    terminal_.faint("->"),
                    right ? isolated(cut_to(s.output, room)) : terminal_.red(isolated(cut_to(s.output, room)))));
    if (!right) say(fmt::format("    {}  {}", terminal_.faint("should be"), isolated(cut_to(s.reference, 2 * room))));
  }
}

void ProgressView::saved(const std::string& checkpoint, bool) {
  if (options_.checkpoints && !terminal_.interactive()) say(fmt::format("saved {}", checkpoint));
}

void ProgressView::finished(const train::Finished& f) {
  erase();
  if (f.skipped > 0)
    warned(fmt::format("{} skipped because of values that were not finite", counted(f.skipped, "update")));
}

}  // namespace heed::cli
