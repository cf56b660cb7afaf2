// The command line, as the verbs declare it. CLI11 is behind this, in arguments.cc alone: every source that includes it
// takes ten seconds to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace heed::cli {

/// One option of a verb. Each call says more about it and returns it again.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  /// What the help calls its value: "FILE". One that stands without a name has none.
  Option& value(const std::string& name);
  Option& required(bool required = true);
  Option& needs(const Option& other);

  /// May be given several times, one value each; with `separator`, also several in one.
  Option& repeated();
  Option& repeated(char separator);

  /// A number from `least` to `most`. The help stays short: the message that refuses another names both.
  Option& from_to(int64_t least, int64_t most);
  Option& from_to(uint64_t least, uint64_t most);
  Option& from_to(double least, double most);

  /// Only these words; another is refused with the nearest. The completions of the shells offer them.
  Option& one_of(const std::string& what, const std::vector<std::string>& words);
  /// Words that completions offer, checked or not.
  Option& offer(std::vector<std::string> words);

 private:
  CLI::Option* option_;
};

class Verb {
 public:
  explicit Verb(CLI::App* app) : app_(app) {}

  /// "--beam"; or "MODEL", which stands without a name. The value is written where it comes from, before run().
  Option option(const std::string& name, std::string& value, const std::string& meaning);
  Option option(const std::string& name, std::vector<std::string>& values, const std::string& meaning);
  Option option(const std::string& name, int64_t& value, const std::string& meaning);
  Option option(const std::string& name, uint64_t& value, const std::string& meaning);
  Option option(const std::string& name, double& value, const std::string& meaning);
  /// `take` is called with the number at once.
  Option option(const std::string& name, const std::function<void(int)>& take, const std::string& meaning);

  Option flag(const std::string& name, bool& value, const std::string& meaning);
  /// --name alone stands for `word`; --name=other gives another.
  Option flag(const std::string& name, const std::string& word, std::string& value, const std::string& meaning);

  /// What the help ends with.
  void footer(const std::string& text);
  /// What the verb does when it was chosen.
  void run(const std::function<void()>& what);

 private:
  CLI::App* app_;
};

class Program {
 public:
  Program(const std::string& meaning, const std::string& version);
  ~Program();

  Verb verb(const std::string& name, const std::string& meaning);
  /// Neither the help nor completions list it: for packagers.
  Verb unlisted_verb(const std::string& name, const std::string& meaning);
  /// After the verbs, which would have it too.
  void footer(const std::string& text);

  std::string help() const;
  ProgramText text() const;

  /// Runs the verb that was chosen, or prints what --help and --version ask for. Throws Error for wrong usage.
  void run(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

/// Empty if `word` is one of `words`; else what to say about it, with the nearest of them.
std::string complaint(const std::string& what, const std::string& word, const std::vector<std::string>& words);

}  // namespace heed::cli
