// Which attentions a model is made of, and with which options: while a Census exists, every attention that its thread
// makes is noted there.
//
//   attend::Census census;
//   const auto model = task.make(parameters, options);
//   for (const attend::Made& made : census.all()) use(made.name, made.options.score);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/attend/mechanism.h"
#include "heed/attend/options.h"
#include "heed/layer/parameters.h"

namespace heed::attend {

/// One attention of a model.
struct Made {
  std::string name;        // where its parameters are: "decoder.0.source"
  Options options;         // what it does, with everything that the model filled in
  std::string place = {};  // as recipes call it: "source"; empty: nobody said
  int64_t layer = 0;       // of that place
};

/// Threads: belongs to the thread that made it. All that exist are told.
class Census {
 public:
  Census() : before_(current_) { current_ = this; }
  ~Census() { current_ = before_; }
  Census(const Census&) = delete;
  Census& operator=(const Census&) = delete;

  const std::vector<Made>& all() const { return all_; }
  /// Those at a place.
  std::vector<Made> at(std::string_view place) const;
  /// The fewest rows that the memory of one of them may have.
  int64_t longest_memory() const;

  /// For what makes attentions.
  static void note(const Made& made) {
    for (Census* each = current_; each; each = each->before_) each->all_.push_back(made);
  }

 private:
  static inline thread_local Census* current_ = nullptr;
  Census* before_;
  std::vector<Made> all_;
};

/// What make() of all.h does once it has checked the options, with the place for a Census.
std::unique_ptr<Mechanism> make_at(std::string_view place, int64_t layer, const Scope& scope, const Options& options);

}  // namespace heed::attend
