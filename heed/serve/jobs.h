// Work of requests for the queue.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "heed/serve/api.h"
#include "heed/serve/failure.h"
#include "heed/serve/http.h"
#include "heed/serve/question.h"

namespace heed::serve {

/// A request that is answered by one function, alone.
class RequestJob : public Job {
 public:
  RequestJob(std::shared_ptr<Exchange> exchange, std::function<void()> work)
      : exchange_(std::move(exchange)), work_(std::move(work)) {}

  bool abandoned() const override { return exchange_->abandoned(); }
  void run(std::span<const std::unique_ptr<Job>> /*jobs*/) noexcept override {
    try {
      work_();
    } catch (const std::exception& error) {
      answer_failure(*exchange_, error);
    }
  }
  void too_late() noexcept override { answer_failure(*exchange_, Interrupted()); }

 private:
  std::shared_ptr<Exchange> exchange_;
  std::function<void()> work_;
};

/// `work` answers, or throws.
inline void enqueue_alone(Api& api, const std::shared_ptr<Exchange>& exchange, std::function<void()> work) {
  auto job = std::make_unique<RequestJob>(exchange, std::move(work));
  job->deadline = api.deadline();
  std::vector<std::unique_ptr<Job>> jobs;
  jobs.push_back(std::move(job));
  api.enqueue(std::move(jobs));
}

/// Throws if a search that keeps where it looked could keep more weights than the server allows: for each of its steps
/// and hypotheses one for each token of the input, of which there are at most as many as bytes.
void check_search(const Question& question, const RequestLimits& limits);

/// The answer is this JSON.
inline void answer_json(Exchange& exchange, const file::Json& json) { exchange.answer({.body = json.line() + "\n"}); }

/// Throws if an answer of so many bytes is more than a client may get.
void check_answer(double bytes, const RequestLimits& limits, const char* hint);

/// The same of an answer whose size follows from what was asked, after a look at it. `hint`: how to ask for less.
void answer_json(Exchange& exchange, const file::Json& json, const RequestLimits& limits, const char* hint);

/// A text that is sent while it is written. The events begin with the first of it, so that what fails before has a
/// status of its own.
class EventStream {
 public:
  explicit EventStream(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}

  void send(const file::Json& json) {
    begin();
    exchange_->event(json.line());
  }
  void finish(const file::Json& last) {
    begin();
    exchange_->end(event_text(last.line()) + event_text("[DONE]"));
  }
  void fail(const std::exception& error) noexcept {
    if (!begun_) return answer_failure(*exchange_, error);
    try {
      exchange_->end(event_text(failure_of(error).event()));
    } catch (...) {
      exchange_->give_up();
    }
  }

 private:
  void begin() {
    if (!begun_) exchange_->begin_events();
    begun_ = true;
  }

  std::shared_ptr<Exchange> exchange_;
  bool begun_ = false;
};

/// Without the last character if it is still being put together from bytes.
std::string complete_characters(std::string text);

/// Throws if a line for this model would make it read a file: what is on the server's disk is none of a client's
/// business. And if it is too long, since only models of pictures have pictures in their lines.
void check_line(const ServedModel& model, const std::string& line, const RequestLimits& limits);

}  // namespace heed::serve
