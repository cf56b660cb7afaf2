#include <algorithm>
#include <sstream>

#include "heed/kernels/attention.h"
#include "heed/kernels/loop/block.h"
#include "heed/kernels/loop/decode.h"

namespace heed::kernels {
namespace {

/// Every buffer "given", so that only the problem itself can be at fault.
Status check_problem(const Problem& p) {
  static float here;
  const View view{&here, 0, 0, 0, 1};
  const ConstView given{&here, 0, 0, 0, 1};
  return check(p, Inputs{given, given, given}, Outputs{.out = view});
}

const char* reason(const Problem& p, const std::string& path) {
  if (path == "strip")
    return "the normaliser must see a whole row before its first weight, so a block's scores are kept in a strip";
  if (path == "decode")
    return "keys and values are read once for all query heads of a key/value head, from eight places at a time; long "
           "memories in parts that threads share";
  if (p.score.kind == ScoreKind::inner && most_queries(p) <= 4)
    return "so few queries leave the lanes of a tile empty, so keys are read along their width";
  return p.score.kind == ScoreKind::tanh_sum
             ? "exponentials are taken once per token; tiles with inputs beyond +-10 take tanh of the sum instead"
             : "weights are normalised online, tile by tile";
}

}  // namespace

Explanation explain(const Problem& p) {
  Explanation e;
  e.isa = isa();
  const Status status = check_problem(p);
  if (!status) {
    e.text = "refused:\n" + status.message();
    return e;
  }
  e.possible = true;
  const Geometry g = geometry(p);
  const ThreadMemoryLease memory;
  const Kernels kernels = make_kernels(p, Direction::forward, {}, nullptr, memory->arena);
  const Inputs nothing;
  const Decoding decoding(p, nothing);
  int64_t decoded_rows = 0;
  for (const DecodeTask& t : plan_decoding(p, decoding, memory->arena)) {
    const int64_t rows = decoding.rows(sequence(p, t.batch));
    e.tasks += 1;
    e.visited_pairs += rows * t.keys;
    if (t.part == 0) e.pairs += rows * sequence(p, t.batch).keys;
    decoded_rows += t.part == 0 ? rows : 0;
    e.tile_queries = std::max(e.tile_queries, rows);
    e.tile_keys = std::max(e.tile_keys, t.keys);
  }
  if (e.tasks > 0) e.scratch_bytes = decode_scratch_bytes(p, decoding);
  e.path = "decode";
  const std::pmr::vector<BlockTask> tasks = plan_tasks(p, g, true, memory->arena, &decoding);
  if (!tasks.empty() || e.tasks == 0) {
    Block block({p, nothing, kernels, g, Direction::forward}, *memory);
    e.path = kernels.normaliser->whole_rows() ? "strip" : "tiles";
    e.tile_queries = g.width;
    e.tile_keys = g.keys;
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
  std::ostringstream text;
  text << "path " << e.path << " on " << e.isa << ": " << reason(p, e.path) << "\n"
       << (e.path == "decode" ? "tasks of up to " : "tiles of ") << e.tile_queries << " queries x " << e.tile_keys
       << " keys, " << e.tasks << " tasks, " << (e.scratch_bytes + 1023) / 1024 << " KiB of scratch per thread\n"
       << "visits " << e.visited_pairs << " of " << e.pairs << " pairs";
  if (e.pairs > 0) text << " (" << 100 * e.visited_pairs / e.pairs << " %)";
  if (decoded_rows > 0 && e.path != "decode")
    text << "\n" << decoded_rows << " rows of sequences with few queries take the path decode";
  e.text = text.str();
  return e;
}

}  // namespace heed::kernels
