// POST /v1/predict
#include <fmt/format.h>

#include <atomic>

#include "heed/predict/json.h"
#include "heed/serve/api.h"
#include "heed/serve/jobs.h"
#include "heed/serve/question.h"

namespace heed::serve {

namespace {

using file::Json;

Json json_of(const predict::Prediction& prediction, const predict::JsonOptions& shown) {
  Json json = Json::object();
  predict::add_prediction(json, prediction, shown);
  return json;
}

uint64_t tokens_of(const predict::Prediction& prediction) {
  return prediction.nbest.empty() ? 0 : prediction.nbest.front().tokens.size();
}

constexpr const char* kAskForLess = "ask for fewer texts or outputs, or for no matrices";

/// About, of what is most of an answer: a weight is a number of some digits.
double bytes_of(const predict::Prediction& prediction, const predict::JsonOptions& shown) {
  constexpr double kOfAWeight = 8;
  if (shown.alignments != predict::AlignmentForm::matrix) return 0;
  double weights = 0;
  for (const predict::Output& output : prediction.nbest)
    for (const std::vector<float>& row : output.alignment) weights += static_cast<double>(row.size());
  return kOfAWeight * weights;
}

/// A request whose lines are answered one by one, perhaps on several threads and beside those of other requests.
class PendingAnswer {
 public:
  PendingAnswer(Api& api, std::shared_ptr<Exchange> exchange, Question question, Models::Model model)
      : api_(api),
        exchange_(std::move(exchange)),
        question_(std::move(question)),
        model_(std::move(model)),
        answers_(question_.inputs.size()),
        missing_(question_.inputs.size()) {}

  const Question& question() const { return question_; }
  const ServedModel& model() const { return *model_; }
  /// Nobody needs more of its lines.
  bool over() const { return failed_.load(std::memory_order_relaxed) || exchange_->abandoned(); }

  void take(size_t line, predict::Prediction prediction) noexcept {
    answers_[line] = std::move(prediction);
    if (missing_.fetch_sub(1) != 1 || failed_) return;
    try {
      answer();
    } catch (const std::exception& error) {
      fail(error);
    }
  }
  void fail(const std::exception& error) noexcept {
    if (!failed_.exchange(true)) answer_failure(*exchange_, error);
  }

 private:
  void answer() {
    uint64_t tokens = 0;
    for (const predict::Prediction& each : answers_) tokens += tokens_of(each);
    api_.metrics.add_lines(answers_.size(), tokens);
    exchange_->tell("model", model_->name);
    exchange_->tell("texts", answers_.size());
    exchange_->tell("tokens", tokens);
    Json json = Json::object({{"model", model_->name}});
    if (question_.options.sample) json["seed"] = question_.options.seed;
    double bytes = 0;
    for (const predict::Prediction& each : answers_) bytes += bytes_of(each, question_.shown);
    check_answer(bytes, api_.options.limits, kAskForLess);
    if (question_.several) {
      Json all = Json::array();
      for (const predict::Prediction& each : answers_) all.push_back(json_of(each, question_.shown));
      json["predictions"] = std::move(all);
    } else {
      if (const std::string& error = answers_.front().error; !error.empty())
        return exchange_->answer(Failure(400, "input", error).answer());
      predict::add_prediction(json, answers_.front(), question_.shown);
    }
    answer_json(*exchange_, json, api_.options.limits, kAskForLess);
  }

  Api& api_;
  std::shared_ptr<Exchange> exchange_;
  Question question_;
  Models::Model model_;
  std::vector<predict::Prediction> answers_;
  std::atomic<size_t> missing_;
  std::atomic<bool> failed_{false};
};

/// One line of a request, or all lines of one that is answered alone.
class LineJob : public Job {
 public:
  LineJob(std::shared_ptr<PendingAnswer> asked, size_t first, size_t count)
      : asked_(std::move(asked)), first_(first), count_(count) {}

  bool abandoned() const override { return asked_->over(); }
  void too_late() noexcept override { asked_->fail(Interrupted()); }
  void run(std::span<const std::unique_ptr<Job>> jobs) noexcept override {
    std::vector<predict::Prediction> found;
    try {
      found = predictions(jobs);
    } catch (const std::exception& error) {
      for (const auto& job : jobs) static_cast<const LineJob&>(*job).asked_->fail(error);
      return;
    }
    size_t next = 0;
    for (const auto& job : jobs) {
      const auto& each = static_cast<const LineJob&>(*job);
      for (size_t i = 0; i < each.count_; ++i) each.asked_->take(each.first_ + i, std::move(found[next++]));
    }
  }

 private:
  std::vector<predict::Prediction> predictions(std::span<const std::unique_ptr<Job>> jobs) const {
    std::vector<std::string> lines;
    for (const auto& job : jobs) {
      const auto& each = static_cast<const LineJob&>(*job);
      for (size_t i = 0; i < each.count_; ++i) lines.push_back(each.asked_->question().inputs[each.first_ + i]);
    }
    return asked_->model().predictor.predict_all(lines, asked_->question().options);
  }

  std::shared_ptr<PendingAnswer> asked_;
  size_t first_, count_;
};

void answer_whole(Api& api, const std::shared_ptr<Exchange>& exchange, Question question, const Models::Model& model) {
  const std::string alike = question.alike.empty() ? "" : fmt::format("{} {}", model->number, question.alike);
  const auto asked = std::make_shared<PendingAnswer>(api, exchange, std::move(question), model);
  const size_t lines = asked->question().inputs.size();
  std::vector<std::unique_ptr<Job>> jobs;
  if (alike.empty()) {
    jobs.push_back(std::make_unique<LineJob>(asked, 0, lines));
  } else {
    for (size_t i = 0; i < lines; ++i) jobs.push_back(std::make_unique<LineJob>(asked, i, 1));
  }
  for (const auto& job : jobs) {
    job->alike = alike;
    job->deadline = api.deadline();
  }
  api.enqueue(std::move(jobs));
}

void answer_in_pieces(Api& api, const std::shared_ptr<Exchange>& exchange, Question question,
                      const Models::Model& model) {
  enqueue_alone(api, exchange, [&api, exchange, model, q = std::move(question)]() mutable {
    EventStream stream(exchange);
    try {
      std::string before;
      q.options.on_text = [&](int64_t, const std::string& whole) {
        const std::string text = complete_characters(whole);
        if (text == before) return;
        Json json = Json::object({{"text", text}});
        if (text.starts_with(before)) json["token"] = text.substr(before.size());
        stream.send(json);
        before = text;
      };
      const predict::Prediction found = model->predictor.predict(q.inputs.front(), q.options);
      if (!found.error.empty()) throw Failure(400, "input", found.error);
      api.metrics.add_lines(1, tokens_of(found));
      exchange->tell("model", model->name);
      exchange->tell("tokens", tokens_of(found));
      Json json = Json::object({{"model", model->name}});
      if (q.options.sample) json["seed"] = q.options.seed;
      predict::add_prediction(json, found, q.shown);
      stream.finish(json);
    } catch (const std::exception& error) {
      stream.fail(error);
    }
  });
}

}  // namespace

void predict_route(Api& api, const std::shared_ptr<Exchange>& exchange) {
  Question question = read_prediction(exchange->request().body, api.options.limits);
  const Models::Model model = api.models.find(question.model);
  for (const std::string& input : question.inputs) check_line(*model, input, api.options.limits);
  check_search(question, api.options.limits);
  (question.stream ? answer_in_pieces : answer_whole)(api, exchange, std::move(question), model);
}

}  // namespace heed::serve
