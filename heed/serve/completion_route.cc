// POST /v1/completions: models of running text, as OpenAI's clients call them.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>

#include "heed/serve/api.h"
#include "heed/serve/jobs.h"
#include "heed/serve/question.h"
#include "heed/task/language_model/running_text.h"
#include "heed/task/task.h"
#include "heed/text/tokeniser.h"

namespace heed::serve {

namespace {

using file::Json;

/// Where the first of these begins; npos: none does.
size_t find_stop(const std::string& text, const std::vector<std::string>& stops) {
  size_t first = std::string::npos;
  for (const std::string& stop : stops)
    if (!stop.empty()) first = std::min(first, text.find(stop));
  return first;
}

/// How much of a text that still grows cannot be the beginning of a stop.
size_t certain_length(const std::string& text, const std::vector<std::string>& stops) {
  size_t certain = text.size();
  for (const std::string_view stop : stops)
    for (size_t length = std::min(stop.size(), text.size()); length > 0; --length)
      if (std::string_view(text).ends_with(stop.substr(0, length))) {
        certain = std::min(certain, text.size() - length);
        break;
      }
  return certain;
}

struct Completion {
  Api& api;
  std::shared_ptr<Exchange> exchange;
  Models::Model model;
  CompletionQuestion q;
  std::string id = "cmpl-" + exchange->request().id;
  int64_t created =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();

  Json head() const {
    return Json::object({{"id", id}, {"object", "text_completion"}, {"created", created}, {"model", model->name}});
  }
  static Json choice(int64_t index, const std::string& text, const char* reason) {
    return Json::object(
        {{"index", index}, {"text", text}, {"logprobs", Json()}, {"finish_reason", reason ? Json(reason) : Json()}});
  }
  Json piece(const std::string& text, const char* reason) const {
    Json json = head();
    json["choices"].push_back(choice(0, text, reason));
    return json;
  }
  Json usage(uint64_t read, uint64_t written) const {
    return Json::object({{"prompt_tokens", read}, {"completion_tokens", written}, {"total_tokens", read + written}});
  }
  void tell(uint64_t written) const {
    api.metrics.add_lines(q.prompts.size(), written);
    exchange->tell("model", model->name);
    exchange->tell("tokens", written);
  }

  /// An output up to the first stop: its text, and the tokens that it takes to write that.
  struct Cut {
    std::string text;
    size_t tokens;
    bool stopped;
  };
  Cut cut(const std::string& prompt, const predict::Output& output) const {
    const size_t stop = find_stop(output.text, q.stops);
    if (stop == std::string::npos) return {output.text, output.tokens.size(), false};
    const text::Tokeniser& tokeniser = model->predictor.target();
    const std::vector<int32_t> beginning = task::beginning_of(prompt, tokeniser);
    const auto writes_all = [&](size_t count) {
      const std::span<const int32_t> some(output.ids.data(), count);
      return complete_characters(task::continuation(beginning, some, tokeniser)).size() >= stop;
    };
    size_t fewest = 0, most = output.ids.size();  // more tokens write more text
    while (fewest < most) {
      const size_t middle = fewest + (most - fewest) / 2;
      if (writes_all(middle))
        most = middle;
      else
        fewest = middle + 1;
    }
    return {output.text.substr(0, stop), fewest, true};
  }

  Json choice_of(int64_t index, const std::string& prompt, const predict::Output& output, const Cut& cut) const {
    Json json = choice(index, (q.echo ? prompt : "") + cut.text, cut.stopped || output.finished ? "stop" : "length");
    if (!q.log_probabilities) return json;
    Json tokens = Json::array(), log_probabilities = Json::array();
    for (size_t i = 0; i < cut.tokens; ++i) {
      tokens.push_back(output.tokens[i]);
      log_probabilities.push_back(output.token_log_probabilities[i]);
    }
    json["logprobs"] = Json::object(
        {{"tokens", std::move(tokens)}, {"token_logprobs", std::move(log_probabilities)}, {"top_logprobs", Json()}});
    return json;
  }

  void whole() const {
    const std::vector<predict::Prediction> found = model->predictor.predict_all(q.prompts, q.options);
    Json json = head(), choices = Json::array();
    uint64_t read = 0, written = 0;
    int64_t index = 0;
    for (size_t p = 0; p < found.size(); ++p) {
      if (!found[p].error.empty()) throw Failure(400, "input", found[p].error);
      read += found[p].source_tokens.size();
      for (const predict::Output& output : found[p].nbest) {
        const Cut kept = cut(q.prompts[p], output);
        choices.push_back(choice_of(index++, q.prompts[p], output, kept));
        written += kept.tokens;
      }
    }
    json["choices"] = std::move(choices);
    json["usage"] = usage(read, written);
    tell(written);
    answer_json(*exchange, json);
  }

  void in_pieces(const std::shared_ptr<std::atomic<bool>>& stopped) {
    EventStream stream(exchange);
    size_t sent = 0;
    const auto send = [&](const std::string& text, size_t length) {
      if (length <= sent) return;
      stream.send(piece(text.substr(sent, length - sent), nullptr));
      sent = length;
    };
    std::string last;
    uint64_t written = 0;  // tokens; the text grows with each of them
    try {
      if (q.echo && !q.prompts.front().empty()) stream.send(piece(q.prompts.front(), nullptr));
      q.options.on_text = [&](int64_t, const std::string& whole) {
        if (*stopped) return;
        ++written;
        last = complete_characters(whole);
        const size_t stop = find_stop(last, q.stops);
        if (stop != std::string::npos) *stopped = true;  // ends the search soon
        send(last, stop != std::string::npos ? stop : certain_length(last, q.stops));
      };
      const predict::Prediction found = model->predictor.predict(q.prompts.front(), q.options);
      if (!found.error.empty()) throw Failure(400, "input", found.error);
      const predict::Output& output = found.nbest.front();
      if (!*stopped) send(output.text, std::min(output.text.size(), find_stop(output.text, q.stops)));
      tell(*stopped ? written : output.tokens.size());
      stream.finish(piece("", *stopped || output.finished ? "stop" : "length"));
    } catch (const Interrupted& interrupted) {
      if (!*stopped) return stream.fail(interrupted);
      tell(written);
      stream.finish(piece("", "stop"));
    } catch (const std::exception& error) {
      stream.fail(error);
    }
  }
};

/// May end before all is written: a stop came.
class StreamJob : public RequestJob {
 public:
  StreamJob(std::shared_ptr<Exchange> exchange, std::function<void()> work, std::shared_ptr<std::atomic<bool>> stopped)
      : RequestJob(std::move(exchange), std::move(work)), stopped_(std::move(stopped)) {}
  bool abandoned() const override { return *stopped_ || RequestJob::abandoned(); }

 private:
  std::shared_ptr<std::atomic<bool>> stopped_;
};

}  // namespace

void completion_route(Api& api, const std::shared_ptr<Exchange>& exchange) {
  CompletionQuestion question = read_completion(exchange->request().body, api.options.limits);
  const Models::Model model = api.models.find(question.model);
  if (model->task().answers() != task::AnswerKind::continuation)
    throw Failure(
        400, "not_a_language_model",
        fmt::format("'{}' does not go on with texts ({}): /v1/predict is for it.", model->name, model->task().meaning));
  const bool in_pieces = question.stream;
  const auto completion = std::make_shared<Completion>(Completion{api, exchange, model, std::move(question)});
  if (!in_pieces) return enqueue_alone(api, exchange, [completion] { completion->whole(); });
  const auto stopped = std::make_shared<std::atomic<bool>>(false);
  std::vector<std::unique_ptr<Job>> jobs;
  jobs.push_back(std::make_unique<StreamJob>(
      exchange, [completion, stopped] { completion->in_pieces(stopped); }, stopped));
  jobs.back()->deadline = api.deadline();
  api.enqueue(std::move(jobs));
}

}  // namespace heed::serve
