// golden-bits FILE [--update] [--only PART]: computes every case on one instruction set, with 1, 2 and 3 threads, and
// compares the hash of each result with the one in FILE.
//
// Which instruction set: HEED_ISA (see tests/bits/CMakeLists.txt), the best of this CPU otherwise. Where this CPU lacks
// it, nothing is compared, and the program ends with 77, which ctest shows as skipped.
#include <omp.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "heed/kernels/isa.h"
#include "tests/bits/bits.h"

namespace {

using heed::bits::Case;
using heed::bits::Hashes;

constexpr int kSkipped = 77;
constexpr const char* kOrder[] = {"avx512", "avx2", "sse4", "scalar"};
constexpr const char* kHead =
    "# Hashes (64-bit FNV-1a of the bytes) of what heed computes: case, instruction set, then a hash for each result.\n"
    "# Made by `make golden-bits`, for the instruction sets of the machine it runs on; read by the tests bits.*.\n";

using Line = std::vector<std::pair<std::string, std::string>>;      // result, hash
using Golden = std::map<std::string, std::map<std::string, Line>>;  // case, instruction set

Golden read(const std::string& path) {
  Golden golden;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text[0] == '#') continue;
    std::istringstream words(text);
    std::string name, isa;
    words >> name >> isa;
    Line& line = golden[name][isa];
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      line.emplace_back(word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1));
    }
  }
  return golden;
}

/// Cases in the order of the program; cases that are no more are left out.
bool write(const std::string& path, const std::vector<Case>& cases, const Golden& golden) {
  std::ofstream file(path);
  file << kHead;
  for (const Case& c : cases) {
    const auto found = golden.find(c.name);
    if (found == golden.end()) continue;
    for (const char* isa : kOrder) {
      const auto line = found->second.find(isa);
      if (line == found->second.end()) continue;
      file << c.name << ' ' << isa;
      for (const auto& [result, hash] : line->second) file << ' ' << result << '=' << hash;
      file << '\n';
    }
  }
  return static_cast<bool>(file.flush());
}

Line computed(const Case& c, int threads) {
  omp_set_num_threads(threads);
  Hashes hashes;
  c.run(hashes, threads);
  Line line;
  for (const auto& [result, hash] : hashes.all()) {
    char text[17];
    std::snprintf(text, sizeof text, "%016" PRIx64, hash);
    line.emplace_back(result, text);
  }
  return line;
}

/// Prints every difference; returns how many there are.
int differences(const std::string& what, const Line& now, const Line& before) {
  int count = 0;
  std::map<std::string, std::string> kept(before.begin(), before.end());
  for (const auto& [result, hash] : now) {
    const auto found = kept.find(result);
    if (found == kept.end())
      std::printf("%s: %s is new: %s\n", what.c_str(), result.c_str(), hash.c_str()), ++count;
    else if (found->second != hash)
      std::printf("%s: %s was %s, is %s\n", what.c_str(), result.c_str(), found->second.c_str(), hash.c_str()), ++count;
    if (found != kept.end()) kept.erase(found);
  }
  for (const auto& [result, hash] : kept)
    std::printf("%s: %s is gone, was %s\n", what.c_str(), result.c_str(), hash.c_str()), ++count;
  return count;
}

constexpr const char* kWhatItMeans = R"(
Other bits than before. Where the code that computes these cases was changed on purpose, so that its last bits are
others: `make golden-bits`, look at the lines of tests/bits/golden.txt that changed, and commit them with the change.
Where it was not: another compiler, another CPU of the same instruction set or another version of a library changes what
heed computes. That breaks a promise of docs/numerics.md: find what it is (an approximate instruction, a function of
libm, a contracted multiply-add) and take it out; do not update the file.
)";

}  // namespace

int main(int count, char** words) {
  std::string path, only;
  bool update = false;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--update")
      update = true;
    else if (word == "--only" && i + 1 < count)
      only = words[++i];
    else if (path.empty() && word[0] != '-')
      path = word;
    else
      return std::fprintf(stderr, "golden-bits: what is '%s'? usage: golden-bits FILE [--update] [--only PART]\n",
                          words[i]),
             2;
  }
  if (path.empty() || (update && !only.empty()))
    return std::fprintf(stderr, "usage: golden-bits FILE [--update | --only PART]\n"), 2;
  if (const auto status = heed::kernels::isa_status(); !status) {
    std::printf("left out: %s\n", status.message().c_str());
    return kSkipped;
  }
  const std::string isa = heed::kernels::isa();
  if (std::find(std::begin(kOrder), std::end(kOrder), isa) == std::end(kOrder)) {
    std::printf("left out: no hashes are kept for the instruction set %s\n", isa.c_str());
    return kSkipped;
  }

  std::vector<Case> cases;
  heed::bits::add_kernel_cases(cases);
  heed::bits::add_tensor_cases(cases);
  heed::bits::add_training_cases(cases);
  Golden golden = read(path);
  int wrong = 0, compared = 0, changed = 0;
  for (const Case& c : cases) {
    if (c.name.find(only) == std::string::npos) continue;
    const std::string what = c.name + " on " + isa;
    const Line line = computed(c, 1);
    ++compared;
    for (const int threads : {2, 3})
      if (differences(what + " with " + std::to_string(threads) + " threads instead of 1", computed(c, threads), line) >
          0)
        ++wrong;
    Line& kept = golden[c.name][isa];
    if (kept != line) ++changed;
    if (update)
      kept = line;
    else if (kept.empty())
      std::printf("%s: not in the file; `make golden-bits` adds it\n", what.c_str()), ++wrong;
    else if (differences(what, line, kept) > 0)
      ++wrong;
  }
  if (update && !write(path, cases, golden)) return std::fprintf(stderr, "cannot write %s\n", path.c_str()), 1;
  if (update)
    std::printf("%s: %d cases, %d of them changed\n", isa.c_str(), compared, changed);
  else
    std::printf("%s: %d cases with 1, 2 and 3 threads, %d wrong\n", isa.c_str(), compared, wrong);
  if (wrong > 0 && !update) std::printf("%s", kWhatItMeans);
  return wrong > 0 ? 1 : 0;
}
