// What a call would do, and why, from the plan that the call would follow.
#include <algorithm>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "heed/kernels/attention.h"
#include "heed/kernels/loop/block.h"
#include "heed/kernels/loop/decode.h"
#include "heed/kernels/no_memory.h"

namespace heed::kernels {
namespace {

/// All buffers non-null, so that only the problem itself can be wrong.
Status check_problem(const Problem& p) {
  static float here;
  const View view{&here, 0, 0, 0, 1};
  const ConstView given{&here, 0, 0, 0, 1};
  return check(p, Inputs{given, given, given}, Outputs{.out = view});
}

/// Why a problem is computed this way.
std::string reason(const Problem& p, const Kernels& kernels, const std::string& path) {
  if (path == "decode")
    return "keys and values are read once for all query heads of a key/value head; threads share long memories";
  const char* score = kernels.score ? kernels.score->explain(most_queries(p)) : nullptr;
  return score ? std::string(score) + "; " + kernels.normaliser->explain() : kernels.normaliser->explain();
}

/// Of sequences that are decoded. Returns how many rows they have.
int64_t count_decoding(const Problem& p, const Decoding& decoding, CallArena& arena, Explanation& e) {
  int64_t decoded_rows = 0;
  for (const DecodeTask& t : plan_decoding(p, decoding, arena)) {
    const int64_t rows = decoding.rows(sequence(p, t.batch));
    e.tasks += 1;
    e.visited_pairs += rows * t.keys;
    if (t.part == 0) e.pairs += rows * sequence(p, t.batch).keys;
    decoded_rows += t.part == 0 ? rows : 0;
    e.tile_queries = std::max(e.tile_queries, rows);
    e.tile_keys = std::max(e.tile_keys, t.keys);
  }
  if (e.tasks > 0) e.scratch_bytes = decode_scratch_bytes(p, decoding);
  return decoded_rows;
}

/// Of all others.
void count_tiles(Block& block, std::span<const BlockTask> tasks, Explanation& e) {
  e.path = block.kernels.normaliser->whole_rows() ? "strip" : "tiles";
  e.tile_queries = block.geometry.width;
  e.tile_keys = block.geometry.keys;
  e.scratch_bytes = std::max(e.scratch_bytes, static_cast<int64_t>(block.scratch_bytes()));
  for (const BlockTask& t : tasks) {
    e.tasks += 1;
    block.plan(t);
    e.pairs += t.count * block.sequence.keys;
    for (const int32_t key_block : block.key_blocks)
      block.for_pieces(key_block, [&](const Tile& tile, Cover) {
        e.visited_pairs += static_cast<int64_t>(tile.keys) * tile.queries;
      });
  }
}

Explanation explain_possible(const Problem& p) {
  Explanation e;
  e.isa = isa();
  e.possible = true;
  e.path = "decode";
  const Geometry g = geometry(p);
  const ThreadMemoryLease memory;
  const Kernels kernels = make_kernels(p, {}, nullptr, memory->arena);
  const Inputs nothing;
  const Decoding decoding(p, nothing);
  const int64_t decoded_rows = count_decoding(p, decoding, memory->arena, e);
  const std::pmr::vector<BlockTask> tasks = plan_tasks(p, g, true, memory->arena, &decoding);
  if (!tasks.empty() || e.tasks == 0) {
    Block block({p, nothing, kernels, g, Direction::forward}, *memory);
    count_tiles(block, tasks, e);
  }
  std::ostringstream text;
  text << "path " << e.path << " on " << e.isa << ": " << reason(p, kernels, e.path) << "\n"
       << (e.path == "decode" ? "tasks of up to " : "tiles of ") << e.tile_queries << " queries x " << e.tile_keys
       << " keys, " << e.tasks << " tasks, " << (e.scratch_bytes + 1023) / 1024 << " KiB of scratch per thread\n"
       << "visits " << e.visited_pairs << " of " << e.pairs << " pairs";
  if (e.pairs > 0) text << " (" << 100 * e.visited_pairs / e.pairs << " %)";
  if (decoded_rows > 0 && e.path != "decode")
    text << "\n" << decoded_rows << " rows of sequences with few queries use the path decode";
  e.text = text.str();
  return e;
}

}  // namespace

Explanation explain(const Problem& p) {
  Explanation e;
  const Status status = without_throwing([&] {
    Status checked = check_problem(p);
    if (checked) e = explain_possible(p);
    return checked;
  });
  if (status) return e;
  e.isa = isa();
  e.text = "refused:\n" + status.message();
  return e;
}

}  // namespace heed::kernels
