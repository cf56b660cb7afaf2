// Which instruction set runs. Chosen once at run time; HEED_ISA in the environment forces one.
#pragma once

#include <string>
#include <vector>

#include "heed/kernels/status.h"

namespace heed::kernels {

/// The instruction set in use: "avx512", "avx2", "sse4" or "scalar" on x86, "sve2", "sve", "neon" or "scalar" on Arm;
/// "none" where HEED_ISA names one that cannot run.
std::string isa();

/// All that this build has and this CPU can run, best first.
std::vector<std::string> available_isas();

/// Uses `name` from the next call on; refused, naming what there is, where the CPU or the build lacks it. An empty name
/// goes back to the best. Not to be called while another thread is inside the library.
Status use_isa(const std::string& name);

/// Not ok when HEED_ISA in the environment names an instruction set that cannot run; forward() and backward() then
/// refuse.
Status isa_status();

}  // namespace heed::kernels
