// What attention looks at inside a running model: while a Watch exists, every attention that its thread computes leaves
// a copy of its weights there.
//
//   attend::Watch watch;
//   model.loss(tape, batch, {});
//   for (const attend::WatchedCall& call : watch.calls()) use(call.name, call.weights);
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "heed/attend/mechanism.h"

namespace heed::attend {

/// One call of a mechanism.
struct WatchedCall {
  std::string name;                              // where it is in the model: "decoder.0.source"
  int64_t first_step = 0;                        // position of its first queries
  int64_t heads = 0;                             // 0: it is not among those that are watched, and has no weights
  std::vector<int64_t> queries = {}, keys = {};  // [B]: of each sequence
  std::vector<std::vector<float>> weights = {};  // [B]: [heads, queries, keys] of each
};

/// What is watched, and how much of it there may be.
struct WatchOptions {
  std::vector<std::string> names = {};  // of attentions, or with .2 for a second call of one; empty: all
  int64_t most_weights = std::numeric_limits<int64_t>::max();
};

/// There are more weights than a Watch may have. Thrown before they are computed. Not an Error, which whoever runs the
/// model would take for one of the line.
class TooManyWeights : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Threads: belongs to the thread that made it. One at a time: a second one hides the first until it ends.
class Watch {
 public:
  explicit Watch(WatchOptions options = {}) : options_(std::move(options)), before_(current_) { current_ = this; }
  ~Watch() { current_ = before_; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  const std::vector<WatchedCall>& calls() const { return calls_; }
  std::vector<WatchedCall> take_calls() { return std::move(calls_); }
  /// All attentions that were called, each once, also those that are not watched.
  const std::vector<std::string>& names() const { return names_; }

  /// For mechanisms: attend(request), watched if anybody does. `attend` takes a Request and returns an Attended.
  template <class Attend>
  static Attended watched(const std::string& name, const AttendArguments& asked, const Attend& attend) {
    if (!current_) return attend(asked.request);
    if (!current_->begins(name)) {
      current_->add_unwatched(name, asked);
      return attend(asked.request);
    }
    Request with_weights = asked.request;
    with_weights.weights = true;
    Attended attended = attend(with_weights);
    current_->add(name, asked, attended.weights);
    return attended;
  }

  /// For what has weights that no mechanism computed: as a call of this name. weights [B, H, queries, keys].
  static bool wants(const std::string& name) { return current_ && current_->begins(name); }
  static void show(const std::string& name, const Weights& weights, const Offsets& queries, const Offsets& keys);

  /// For what computes weights: there are to be so many of them.
  static void expect_room(const Weights& weights) {
    if (current_) current_->count(weights);
  }

 private:
  /// Whether this one is watched.
  bool begins(const std::string& name);
  void count(const Weights& weights);
  void add_unwatched(const std::string& name, const AttendArguments& asked);
  void add(const std::string& name, const AttendArguments& asked, const Weights& weights);

  static inline thread_local Watch* current_ = nullptr;
  WatchOptions options_;
  Watch* before_;
  std::vector<std::string> names_;
  std::string computed_;  // the name of the one whose weights are being computed
  int64_t weights_ = 0;   // so far
  std::vector<WatchedCall> calls_;
};

}  // namespace heed::attend
