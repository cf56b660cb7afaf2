#include "heed/kernels/isa.h"

#include <cstdlib>

#include "hwy/highway.h"
#include "hwy/targets.h"

namespace heed::kernels {
namespace {

struct Known {
  const char* name;
  int64_t target;
};

// Best first; only those in this build are ever offered.
constexpr Known kKnown[] = {
#if HWY_ARCH_X86
    {"avx512", HWY_AVX3_DL}, {"avx512", HWY_AVX3},   {"avx2", HWY_AVX2}, {"sse4", HWY_SSE4}, {"ssse3", HWY_SSSE3},
#else
    {"sve2", HWY_SVE2},     {"sve", HWY_SVE},       {"neon", HWY_NEON},
#endif
    {"scalar", HWY_EMU128},  {"scalar", HWY_SCALAR},
};

/// Targets in this build (in every source, by Highway's own rules for this compilation) that this CPU can run.
int64_t runnable() {
  static const int64_t targets = [] {
    hwy::DisableTargets(0);
    return hwy::SupportedTargets() & HWY_TARGETS;
  }();
  return targets;
}

int64_t g_forced = 0;  // 0: the best

std::string offered() {
  std::string names;
  for (const std::string& name : available_isas()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

void apply(int64_t target) {
  g_forced = target;
  // Everything but the wanted target is hidden from Highway's dispatch; 0 hides nothing.
  hwy::DisableTargets(target == 0 ? 0 : ~target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

Status choose(const std::string& name) {
  Status status;
  if (name.empty()) {
    apply(0);
    return status;
  }
  bool in_build = false;
  for (const Known& known : kKnown) {
    if (name != known.name) continue;
    in_build |= (HWY_TARGETS & known.target) != 0;
    if (runnable() & known.target) {
      apply(known.target);
      return status;
    }
  }
  status.refuse("instruction set '" + name + "' " +
                (in_build ? "is in this build, but this CPU lacks it" : "is not one that this build knows") +
                "; this machine can run: " + offered());
  return status;
}

/// Reads HEED_ISA once, before anything else is chosen.
const Status& environment_status() {
  static const Status status = [] {
    const char* wanted = std::getenv("HEED_ISA");
    const Status chosen = choose(wanted ? wanted : "");
    Status named;
    if (!chosen) named.refuse("HEED_ISA: " + chosen.message());
    return named;
  }();
  return status;
}

}  // namespace

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const Known& known : kKnown)
    if ((runnable() & known.target) && (names.empty() || names.back() != known.name)) names.push_back(known.name);
  return names;
}

std::string isa() {
  if (!isa_status()) return "none";
  for (const Known& known : kKnown)
    if ((runnable() & known.target) && (g_forced == 0 || g_forced == known.target)) return known.name;
  return "none";
}

Status use_isa(const std::string& name) {
  environment_status();  // first, or it would undo this choice later
  return choose(name);
}

Status isa_status() { return environment_status(); }

}  // namespace heed::kernels
