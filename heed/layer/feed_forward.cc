#include "heed/layer/feed_forward.h"

#include "heed/base/error.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/dropout.h"

namespace heed {

FeedForward::FeedForward(const Scope& scope, const FeedForwardOptions& given) : options(given) {
  expect(given.width > 0 && given.hidden >= 0,
         "feed forward '{}': width must be positive and hidden not negative, not {} and {}", scope.prefix(),
         given.width, given.hidden);
  if (options.hidden == 0) options.hidden = 4 * options.width;
  up = Linear(scope / "up", options.width, options.hidden, options.bias);
  if (options.gated) gate = Linear(scope / "gate", options.width, options.hidden, options.bias);
  down = Linear(scope / "down", options.hidden, options.width, options.bias);
}

Tensor FeedForward::operator()(Tensor x) const {
  // One after the other: which of two arguments is computed first is the compiler's choice, and decides in which order
  // their gradients are added to x.
  const Tensor raised = up(x);
  const Tensor hidden =
      options.gated ? multiply(activate(gate(x), options.activation), raised) : activate(raised, options.activation);
  return down(dropout(hidden, options.dropout));
}

}  // namespace heed
