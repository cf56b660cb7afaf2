// heed chat: a dialogue with a model on the terminal, turn by turn.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "cli/options.h"
#include "cli/search_options.h"
#include "cli/terminal.h"
#include "cli/token_map.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/data/dialogue.h"
#include "heed/kernels/interrupt.h"
#include "heed/text/utf8.h"
#include "heed/text/words.h"
#include "heed/view/draw.h"
#include "heed/view/look.h"

namespace heed::cli {

namespace {

struct ChatArguments {
  ModelChoice model;
  SearchChoice search;
  int64_t turns = 0;  // 0: as the model was trained
};

volatile std::sig_atomic_t ctrl_c = 0;

/// While it lives, Ctrl-C sets a flag, and ends a read that waits for a line.
class CtrlC {
 public:
  CtrlC() {
    struct sigaction action = {};
    action.sa_handler = [](int) { ctrl_c = 1; };
    sigaction(SIGINT, &action, &before_);
  }
  ~CtrlC() { sigaction(SIGINT, &before_, nullptr); }
  CtrlC(const CtrlC&) = delete;
  CtrlC& operator=(const CtrlC&) = delete;

 private:
  struct sigaction before_ = {};
};

/// Lines of standard input, as they come.
class ChatLines {
 public:
  enum class Came { line, interrupt, end };

  Came next(std::string& line) {
    while (true) {
      if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
        line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        if (line.ends_with('\r')) line.pop_back();
        return Came::line;
      }
      std::array<char, 4096> part{};
      const ssize_t count = ctrl_c ? -1 : ::read(STDIN_FILENO, part.data(), part.size());
      if (count > 0) {
        buffer_.append(part.data(), static_cast<size_t>(count));
        expect(buffer_.size() <= kLongest, ErrorKind::data, "a line of more than {} bytes: this is not text", kLongest);
        continue;
      }
      if (ctrl_c || (count < 0 && errno == EINTR)) {
        ctrl_c = 0;
        buffer_.clear();
        return Came::interrupt;
      }
      line = std::exchange(buffer_, {});
      return line.empty() ? Came::end : Came::line;
    }
  }

 private:
  static constexpr size_t kLongest = size_t{1} << 20;
  std::string buffer_;
};

constexpr const char* kCommands =
    "/look draws what the last answer attended to, /reset begins anew, /history shows what was said, /quit ends\n";

class Chat {
 public:
  Chat(const predict::Predictor& predictor, predict::Options options, int64_t turns)
      : predictor_(predictor), options_(std::move(options)), turns_(turns) {}

  /// False: it is over.
  bool take(const std::string& line) {
    if (text::is_blank(line)) return true;
    if (!line.starts_with('/')) {
      answer(line);
      return true;
    }
    if (line == "/quit") return false;
    if (line == "/reset") {
      history_.clear();
      asked_.clear();
      print(terminal_.faint("what was said is forgotten") + "\n");
    } else if (line == "/look") {
      look();
    } else if (line == "/history") {
      for (const data::Turn& turn : history_) print((turn.mine ? terminal_.bold("< ") : "> ") + turn.text + "\n");
      if (history_.empty()) print(terminal_.faint("nothing was said") + "\n");
    } else {
      if (line != "/help") print(complaint("command", line, {"/look", "/reset", "/history", "/help", "/quit"}) + "\n");
      print(kCommands);
    }
    return true;
  }

  bool interactive() const { return terminal_.interactive() && ::isatty(STDIN_FILENO) == 1; }
  std::string faint(const std::string& text) const { return terminal_.faint(text); }

 private:
  void answer(const std::string& line) {
    std::vector<data::Turn> said = history_;
    said.push_back({.mine = false, .text = line});
    const std::string asked = turns_ > 0 ? data::dialogue_context(said, turns_) : line;
    const kernels::Interruptible stoppable([] { return ctrl_c != 0; });
    try {
      ++options_.first_line;  // a sample of each turn is another one
      const predict::Prediction found = predictor_.predict(asked, options_);
      if (!found.error.empty()) return note(found.error + "\n");
      print((interactive() ? terminal_.bold("< ") : "") + found.text() + "\n");
      said.push_back({.mine = true, .text = found.text()});
      history_ = std::move(said);
      asked_ = asked;
    } catch (const Interrupted&) {
      ctrl_c = 0;
      print("\n" + terminal_.faint("stopped; this turn is forgotten") + "\n");
    }
  }

  void look() {
    if (asked_.empty()) return print(terminal_.faint("nothing was answered yet") + "\n");
    const view::Example example = view::look(predictor_, asked_, {}, options_);
    const view::Map* map = example.main_map();
    if (!map) return print("this model has no attention: there is nothing to look at\n");
    print(terminal_.faint(view::heading_of(*map, -1)) + "\n" + token_map(example, *map, -1, terminal_));
  }

  const predict::Predictor& predictor_;
  predict::Options options_;
  int64_t turns_;
  Terminal terminal_;
  std::vector<data::Turn> history_;
  std::string asked_;  // what the last answer was written for
};

void run(ChatArguments& c) {
  const predict::Predictor predictor = load_predictor(c.model);
  expect(predictor.model().task().writes_texts_for_texts(),
         "chat needs a model that writes a text for a text; this one {}",
         predictor.model().task().answers() == task::AnswerKind::label ? "gives labels" : "does something else");
  check(c.search.options, predictor);
  Chat chat(predictor, c.search.options, c.turns > 0 ? c.turns : predictor.model().description.answers.turns);
  const CtrlC watched;
  ChatLines lines;
  if (chat.interactive()) print(chat.faint(kCommands));
  for (std::string line; !reader_is_gone();) {
    if (chat.interactive()) {
      print("> ");
      std::fflush(stdout);
    }
    switch (lines.next(line)) {
      case ChatLines::Came::interrupt:
        print("\n" + chat.faint("/quit or Ctrl-D ends the chat") + "\n");
        break;
      case ChatLines::Came::end:
        if (chat.interactive()) print("\n");
        return;
      case ChatLines::Came::line:
        if (const std::string wrong = text::utf8_complaint(line); !wrong.empty())
          note(wrong + "\n");
        else if (!chat.take(line))
          return;
    }
    std::fflush(stdout);
  }
}

constexpr const char* kHelp = R"(Examples:
  heed chat model
  heed chat model --beam 5 --no-repeat-ngram 3
  heed chat model --sample --temperature 0.8 --seed 7
  printf 'hello\nwhere were you ?\n' | heed chat model

Each line is a turn, and the model answers it. A model that was trained on dialogues (data.turns) reads the last turns with
marks for who said them; another one reads the last turn alone. /look draws what the last answer attended to, /reset
begins a new dialogue, /history shows this one. Ctrl-C stops an answer; /quit or Ctrl-D ends the chat.)";

}  // namespace

void add_chat(Program& program) {
  auto c = std::make_shared<ChatArguments>();
  Verb verb = program.verb("chat", "Talk with a trained model");
  add_model(verb, c->model);
  add_ensemble(verb, c->model);
  add_precision(verb, c->model);
  using task::DecodingGroup;
  add_decoding(verb, c->search, {DecodingGroup::search, DecodingGroup::sampling, DecodingGroup::rules});
  verb.option("--turns", c->turns, "Turns that the model reads before it answers (default: as it was trained)")
      .value("N")
      .from_to(int64_t{1}, int64_t{1000});
  add_threads(verb);
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
