#include "heed/base/interrupt.h"

#include "heed/base/error.h"
#include "heed/kernels/interrupt.h"

namespace heed {

void stop_if_interrupted() {
  if (is_interrupted()) throw Interrupted();
}

bool is_interrupted() noexcept { return kernels::interrupted(); }

}  // namespace heed
