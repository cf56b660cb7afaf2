#include "cli/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "heed/search/batches.h"
#include "heed/tensor/error.h"
#include "heed/text/utf8.h"

namespace heed::cli {

Predictor::Predictor(const train::TrainedModel& trained, const search::Options& options)
    : trained_(trained), options_(options), tape_({.recording = false, .training = false}) {}

std::string utf8_complaint(const std::string& text) {
  const size_t fault = utf8_fault(text);
  return fault == std::string::npos ? "" : fmt::format("byte {} is not valid UTF-8", fault + 1);
}

/// What is wrong with it, or its tokens.
std::string Predictor::read(const Question& question, Answer& answer) const {
  if (std::string wrong = utf8_complaint(question.text); !wrong.empty()) return wrong;
  answer.source = source().encode(question.text);
  const int64_t places = train::places(trained_.recipe);
  if (std::ssize(answer.source) > places)
    return fmt::format("{} tokens are too long: the model has places for {}", answer.source.size(), places);
  return "";
}

std::vector<Answer> Predictor::answer(std::span<const Question> questions) {
  std::vector<Answer> answers(questions.size());
  std::vector<Answer*> there;
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < questions.size(); ++i) {
    answers[i].error = read(questions[i], answers[i]);
    if (!answers[i].error.empty() || answers[i].source.empty()) continue;
    there.push_back(&answers[i]);
    numbers.push_back(questions[i].number);
  }
  if (!there.empty()) search(there, numbers);
  return answers;
}

/// Where all of them together fail, each is tried alone: one line that is too much for the memory or gives numbers that
/// are none takes no other with it.
void Predictor::search(std::span<Answer*> answers, std::span<const int64_t> numbers) {
  std::vector<int32_t> ids;
  std::vector<int64_t> offsets = {0};
  for (const Answer* answer : answers) {
    ids.insert(ids.end(), answer->source.begin(), answer->source.end());
    offsets.push_back(std::ssize(ids));
  }
  std::string error;
  try {
    std::vector<search::Result> found =
        search::search_all(*trained_.model, tape_, {.ids = ids, .offsets = offsets, .numbers = numbers}, options_);
    for (size_t i = 0; i < answers.size(); ++i) answers[i]->hypotheses = std::move(found[i].hypotheses);
    return;
  } catch (const Error& wrong) {
    error = wrong.what();
  } catch (const std::bad_alloc&) {
    error = "not enough memory";
  }
  if (answers.size() == 1) {
    answers.front()->error = error;
    return;
  }
  for (size_t i = 0; i < answers.size(); ++i) search(answers.subspan(i, 1), numbers.subspan(i, 1));
}

std::string Predictor::text_of(const search::Hypothesis& hypothesis) const {
  return target().decode(hypothesis.tokens);
}

std::vector<std::pair<int64_t, int64_t>> links_of(const search::Hypothesis& hypothesis) {
  std::vector<std::pair<int64_t, int64_t>> links;
  const size_t rows = std::min(hypothesis.tokens.size(), hypothesis.alignment.size());
  for (size_t t = 0; t < rows; ++t) {
    const std::vector<float>& row = hypothesis.alignment[t];
    if (row.empty()) continue;
    links.emplace_back(std::max_element(row.begin(), row.end()) - row.begin(), static_cast<int64_t>(t));
  }
  return links;
}

std::string pharaoh(const search::Hypothesis& hypothesis) {
  std::string text;
  for (const auto& [from, to] : links_of(hypothesis)) text += fmt::format("{}{}-{}", text.empty() ? "" : " ", from, to);
  return text;
}

}  // namespace heed::cli
