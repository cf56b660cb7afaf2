// Work of requests for the queue.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "heed/serve/api.h"
#include "heed/serve/failure.h"
#include "heed/serve/http.h"

namespace heed::serve {

/// A request that is answered by one function, alone.
class RequestJob : public Job {
 public:
  RequestJob(std::shared_ptr<Exchange> exchange, std::function<void()> work)
      : exchange_(std::move(exchange)), work_(std::move(work)) {}

  bool abandoned() const override { return exchange_->abandoned(); }
  void run(std::span<const std::unique_ptr<Job>> /*jobs*/) override {
    try {
      work_();
    } catch (const std::exception& error) {
      exchange_->answer(failure_of(error).answer());
    }
  }
  void too_late() override { exchange_->answer(failure_of(Interrupted()).answer()); }

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

/// The answer is this JSON.
inline void answer_json(Exchange& exchange, const file::Json& json) { exchange.answer({.body = json.line() + "\n"}); }

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
  void fail(const Failure& failure) {
    if (begun_)
      exchange_->end(event_text(failure.event()));
    else
      exchange_->answer(failure.answer());
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
