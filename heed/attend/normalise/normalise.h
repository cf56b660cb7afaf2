// The part that turns scores into weights.
#pragma once

#include <memory>

#include "heed/attend/all.h"
#include "heed/attend/call.h"

namespace heed::attend {

/// Threads: as Mechanism.
class Normalise {
 public:
  virtual ~Normalise() = default;

  virtual void configure(CallContext& c) const = 0;
  /// How often the loop runs for one context; the contexts are averaged.
  virtual int64_t runs(const Tape&) const { return 1; }
};

/// A normaliser that the kernels provide.
/// Threads: as Mechanism.
class PlainNormalise final : public Normalise {
 public:
  PlainNormalise(kernels::Normaliser kind, bool divide) : kind_(kind), divide_(divide) {}
  void configure(CallContext& c) const override {
    c.call.problem.normalise.kind = kind_;
    c.call.problem.normalise.divide_by_visible = divide_;
  }

 private:
  kernels::Normaliser kind_;
  bool divide_;
};

template <kernels::Normaliser kind>
std::unique_ptr<Normalise> new_normalise(const Scope&, const Options& options) {
  return std::make_unique<PlainNormalise>(kind, options.divide_by_visible);
}

}  // namespace heed::attend
