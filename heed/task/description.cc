#include "heed/task/description.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/part_name.h"
#include "heed/task/all.h"
#include "heed/task/model_keys.h"
#include "heed/task/predict_options.h"
#include "heed/task/version_1.h"
#include "heed/text/tokeniser.h"

namespace heed::task {

namespace {

constexpr std::string_view kVocabularySuffix = ".vocab";

/// The keys of model.toml, with their values in the description.
class DescriptionFields {
 public:
  DescriptionFields(Description& d, const Task& task) {
    fields_.add("version", version_, "version of this description, which says what a model is, not how it was trained",
                file::Limit::at_least(kDescriptionVersion));
    fields_.section("tokens", "How texts become tokens, and which parts of the model hold the vocabularies.");
    add_model_sections(fields_, d.model, task);
    fields_.section("answers", "What answering needs to know.");
    task.add_description(fields_, d);
    fields_.add("answers.longest", d.answers.longest, "longest output, in tokens, unless another one is asked for",
                file::Limit::between(1, kLongest));
  }

  file::Fields& fields() { return fields_; }
  void set_version() { version_ = kDescriptionVersion; }

 private:
  int64_t version_ = 0;  // no version: it must be said
  file::Fields fields_;
};

void expect_version(std::string_view toml, std::string_view file) {
  const std::optional<int64_t> version = file::peek_integer(toml, "version");
  expect(!version || *version <= kDescriptionVersion, ErrorKind::file,
         "'{}' has version {}, but this version of heed reads {}; a newer heed may read it", file, version.value_or(0),
         kDescriptionVersion);
}

/// The task that a text names. One that does not exist is reported later, among the mistakes.
const Task& task_in(std::string_view toml) {
  const std::string name = file::peek(toml, "model.task");
  const Task* task = all().look_up(name);
  return task ? *task : *all().front();
}

bool is_vocabulary_name(const std::string& name) {
  return file::is_part_name(name) && name.ends_with(kVocabularySuffix) && name.size() > kVocabularySuffix.size();
}

/// Calls use(fields) with a copy of the description.
template <class Use>
auto with_keys(Description copy, const Use& use) {
  DescriptionFields keys(copy, copy.task());
  keys.set_version();
  return use(keys.fields());
}

}  // namespace

const Task& Description::task() const { return find(model.task); }

Description describe(const data::Options& data, const model::Options& model, int64_t longest) {
  Description d;
  d.source.tokens = data.source.kind;
  d.target.tokens = data.joint ? data.source.kind : data.target.kind;
  d.joint = data.joint;
  d.model = model;
  d.model.two_texts = data.train.second_column > 0;
  d.answers = {.longest = longest,
               .max_source = data.max_source,
               .label_separator = data.label_separator,
               .turns = data.train.turns,
               .documents = data.documents};
  return d;
}

Description default_description(const Task& task) {
  data::Options data;
  model::Options model;
  task.set_defaults(data, model);
  model.task = task.name;
  return describe(data, model, Description::Answers{}.longest);
}

std::string text_of(const Description& description) {
  return with_keys(description, [](const file::Fields& fields) { return fields.text(); });
}

void expect_consistent(const Description& d, std::string_view file) {
  std::vector<std::string> wrong = d.task().contradictions(d);
  for (const Description::Side* side : {&d.source, &d.target})
    if (!is_vocabulary_name(side->vocabulary))
      wrong.push_back(
          fmt::format("'{}' cannot be the name of a vocabulary; use letters, digits, '.', '_' and '-', and "
                      "end it with {}",
                      side->vocabulary, kVocabularySuffix));
  if (!d.joint && d.source.vocabulary == d.target.vocabulary)
    wrong.push_back(
        fmt::format("both vocabularies have the name '{}', but tokens.joint is false", d.source.vocabulary));
  std::string all;
  for (const std::string& each : wrong) all += fmt::format("{}{}: {}", all.empty() ? "" : "\n", file, each);
  expect(all.empty(), ErrorKind::file, "{}", all);
}

Description parse_description(std::string_view toml, std::string_view file) {
  expect_version(toml, file);
  const Task& task = task_in(toml);
  Description d = default_description(task);
  try {
    const std::set<std::string> given = DescriptionFields(d, task).fields().parse(toml, file);
    forget_former_projections(d.model, given);
  } catch (const Error& error) {
    throw Error(ErrorKind::file, error.what());
  }
  if (d.joint) d.target.tokens = d.source.tokens;
  expect_consistent(d, file);
  return d;
}

std::map<std::string, std::string> values_of(const Description& description) {
  return with_keys(description, [](const file::Fields& fields) { return fields.values(); });
}

std::string difference(const Description& now, const Description& before) {
  if (now.model.task != before.model.task)
    return fmt::format("model.task is \"{}\", was \"{}\"", now.model.task, before.model.task);
  Description other = before;
  other.answers = now.answers;
  const auto differences = with_keys(now, [&](const file::Fields& mine) {
    return with_keys(other, [&](const file::Fields& theirs) { return mine.differences(theirs); });
  });
  std::string all;
  for (const auto& [key, here, there] : differences)
    all += fmt::format("{}{} is {}, was {}", all.empty() ? "" : "; ", key, here, there);
  return all;
}

void add_token_keys(file::Fields& f, const std::string& side, const std::vector<std::string>& kinds,
                    Description::Side& target) {
  if (!kinds.empty()) {
    // A model that another program trained may have its own.
    std::vector<std::string> all = kinds;
    for (std::string& kind : text::Tokeniser::kinds_of_others()) all.push_back(std::move(kind));
    f.add("tokens." + side, target.tokens, "how the " + side + " is split into tokens", file::Limit::one_of(all));
  }
  f.add("tokens." + side + "_vocabulary", target.vocabulary, "the part that holds the vocabulary of the " + side);
}

}  // namespace heed::task
