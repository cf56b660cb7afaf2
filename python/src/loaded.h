// A loaded model, or several, for Python: threads may ask it all at once, and write to its weights while nobody asks.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

#include "bindings.h"
#include "heed/predict/predictor.h"

namespace heed::python {

class Loaded {
 public:
  explicit Loaded(predict::Predictor predictor) : predictor_(std::move(predictor)) {}

  /// What never changes: sizes, names, recipe, tokens.
  const predict::Predictor& predictor() const { return predictor_; }

  /// work(predictor), without Python's lock, while nobody writes.
  template <class Work>
  auto ask(Work&& work) const {
    return run([&] { return ask_inside(work); });
  }
  /// The same for a thread that has given up Python's lock.
  template <class Work>
  auto ask_inside(Work&& work) const {
    const std::shared_lock lock(busy_);
    return work(predictor_);
  }

  // The weights of a model that is no ensemble: weights.cc.
  py::list names() const;
  py::tuple shape(const std::string& name) const;
  py::array_t<float> weight(const std::string& name) const;  // a copy
  /// [(name, array), ...]: all of them, or none if one does not fit.
  void write(const py::list& weights);
  bool written() const { return written_; }
  void export_to(const std::string& model, const std::string& checkpoint, const std::string& path,
                 const std::string& precision) const;

 private:
  Parameters& parameters() const;

  predict::Predictor predictor_;
  mutable std::shared_mutex busy_;
  std::atomic<bool> written_{false};
};

}  // namespace heed::python
