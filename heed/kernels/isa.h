// Which instruction set runs. Chosen once at run time; HEED_ISA in the environment forces one.
#pragma once

#include <string>
#include <vector>

#include "heed/kernels/status.h"

namespace heed::kernels {

/// The instruction set in use: "avx512", "avx2", "sse4" or "scalar" on x86, "sve2", "sve", "neon" or "scalar" on Arm;
/// "none" if HEED_ISA names one that cannot run.
std::string isa();

/// All instruction sets of this build that this CPU can run, best first.
std::vector<std::string> available_isas();

/// Selects `name` for all further calls. If the CPU or the build lacks it, it is refused and the message lists the
/// available ones. An empty name selects the best. Do not call it while another thread is inside the library.
Status use_isa(const std::string& name);

/// Not ok when HEED_ISA in the environment names an instruction set that cannot run; forward() and backward() then
/// refuse to run.
Status isa_status();

}  // namespace heed::kernels
