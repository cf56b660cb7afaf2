// What Prometheus expects every process to tell about itself: time, memory and open files.
#pragma once

#include <string>

namespace heed::serve {

/// Lines of a metrics page. What the system does not tell is left out.
std::string process_metrics();

}  // namespace heed::serve
