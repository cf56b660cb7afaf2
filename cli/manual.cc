// heed manual: the page that `man heed` shows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/version.h"

namespace heed::cli {

namespace {

/// Escaped for troff: backslashes, minus signs (which would become hyphens), and lines that begin like a command.
std::string troff(std::string_view text) {
  std::string all;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) all += "\\&";
    begins = c == '\n';
    if (c == '\\')
      all += "\\e";
    else if (c == '-')
      all += "\\-";
    else
      all += c;
  }
  return all;
}

std::string synopsis(const VerbText& verb) {
  std::string text = fmt::format(".B heed {}\n", verb.name);
  std::string rest = "[OPTIONS]";
  for (const OptionText& option : verb.options) {
    if (!option.positional) continue;
    const std::string name = option.names.front() + (option.several ? "..." : "");
    rest += option.required ? " " + name : fmt::format(" [{}]", name);
  }
  return text + troff(rest) + "\n.br\n";
}

std::string entry(const OptionText& option) {
  std::string head = fmt::format("\\fB{}\\fR", troff(fmt::format("{}", fmt::join(option.names, ", "))));
  if (option.value_may_be_left_out)
    head += fmt::format("[=\\fI{}\\fR]", troff(option.value));
  else if (!option.value.empty())
    head += fmt::format(" \\fI{}\\fR", troff(option.value));
  return fmt::format(".TP\n{}\n{}\n", head, troff(option.meaning));
}

/// Unchanged, line by line.
std::string verbatim(const std::string& text) { return text.empty() ? "" : ".PP\n.nf\n" + troff(text) + "\n.fi\n"; }

struct Variable {
  const char *name, *meaning;
};
constexpr Variable kEnvironment[] = {
    {"NO_COLOR", "if set and not empty, no colours. There are none either if standard output is not a terminal"},
    {"COLUMNS", "the width of the output (default: that of the terminal, or 80)"},
    {"HEED_ISA",
     "forces an instruction set, for example avx2. If the machine cannot run it, every command ends with code 64"},
    {"OMP_NUM_THREADS", "number of threads (default: all cores)"},
};

std::string page(const ProgramText& program) {
  std::string text = fmt::format(".TH HEED 1 \"\" \"heed {}\"\n.SH NAME\nheed \\- {}\n.SH SYNOPSIS\n", HEED_VERSION,
                                 troff("attention, all of it: trains models and runs them"));
  for (const VerbText& verb : program.verbs) text += synopsis(verb);
  text += ".SH OPTIONS\n";
  for (const OptionText& option : program.options) text += entry(option);
  text += ".SH COMMANDS\n";
  for (const VerbText& verb : program.verbs) {
    text += fmt::format(".SS heed {}\n{}.\n", verb.name, troff(verb.meaning));
    for (const OptionText& option : verb.options) text += entry(option);
    text += verbatim(verb.footer);
  }
  text += ".SH EXIT STATUS\n";
  for (const ExitMeaning& exit : kExitMeanings)
    text += fmt::format(".TP\n{}\n{}\n", static_cast<int>(exit.code), troff(exit.meaning));
  text += ".SH ENVIRONMENT\n";
  for (const Variable& v : kEnvironment) text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", v.name, troff(v.meaning));
  return text + ".SH EXAMPLES" + verbatim(program.footer).substr(3);
}

}  // namespace

void add_manual(Program& program) {
  Verb verb = program.unlisted_verb("manual", "The manual page, for man");
  verb.run([&program] { print(page(program.text())); });
}

}  // namespace heed::cli
