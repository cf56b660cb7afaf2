// What attention looks at inside a running model: while a Watch exists, every attention that its thread computes leaves
// a copy of its weights there.
//
//   attend::Watch watch;
//   model.loss(tape, batch, {});
//   for (const attend::WatchedCall& call : watch.calls()) use(call.name, call.weights);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/attend/mechanism.h"

namespace heed::attend {

/// One call of a mechanism.
struct WatchedCall {
  std::string name;        // where it is in the model: "decoder.0.source"
  int64_t first_step = 0;  // position of its first queries
  int64_t heads = 0;
  std::vector<int64_t> queries = {}, keys = {};  // [B]: of each sequence
  std::vector<std::vector<float>> weights = {};  // [B]: [heads, queries, keys] of each
};

/// Threads: belongs to the thread that made it. One at a time: a second one hides the first until it ends.
class Watch {
 public:
  Watch() : before_(current_) { current_ = this; }
  ~Watch() { current_ = before_; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  const std::vector<WatchedCall>& calls() const { return calls_; }

  /// For mechanisms: attend(request), watched if anybody does. `attend` takes a Request and returns an Attended.
  template <class Attend>
  static Attended watched(const std::string& name, const AttendArguments& asked, const Attend& attend) {
    if (!current_) return attend(asked.request);
    Request with_weights = asked.request;
    with_weights.weights = true;
    Attended attended = attend(with_weights);
    current_->add(name, asked, attended.weights);
    return attended;
  }

 private:
  void add(const std::string& name, const AttendArguments& asked, const Weights& weights);

  static inline thread_local Watch* current_ = nullptr;
  Watch* before_;
  std::vector<WatchedCall> calls_;
};

}  // namespace heed::attend
