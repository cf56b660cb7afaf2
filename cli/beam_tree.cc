#include "cli/beam_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "cli/columns.h"
#include "cli/token_map.h"

namespace heed::cli {

namespace {

constexpr size_t kWidestToken = 20;  // columns
constexpr const char *kKept = "●", *kDropped = "○";

/// A line of the drawing.
struct Line {
  std::string before, token;  // the lines of the tree, and what is at their end
  std::string after = {};     // numbers, which stand below each other
  bool is_best = false;       // on the path to the best output
  bool is_kept = true;
};

class Drawing {
 public:
  explicit Drawing(const view::Example& example) : example_(example), beam_(*example.beam) {
    const size_t count = beam_.nodes.size();
    children_.resize(count);
    height_.resize(count);
    rank_.assign(count, std::numeric_limits<int64_t>::max());
    for (size_t i = count; i-- > 0;) {  // children come after their parents
      const view::BeamNode& node = beam_.nodes[i];
      if (node.rank > 0) rank_[i] = std::min(rank_[i], node.rank);
      if (node.parent < 0) continue;
      const auto parent = static_cast<size_t>(node.parent);
      rank_[parent] = std::min(rank_[parent], rank_[i]);
      height_[parent] = std::max(height_[parent], height_[i] + 1);
      children_[parent].push_back(i);
    }
    for (std::vector<size_t>& children : children_)
      std::sort(children.begin(), children.end(), [&](size_t a, size_t b) { return leads(a, b); });
  }

  std::vector<Line> lines() {
    draw(0, "", "");
    return std::move(lines_);
  }

 private:
  bool leads(size_t a, size_t b) const {
    const view::BeamNode &x = beam_.nodes[a], &y = beam_.nodes[b];
    if (x.kept != y.kept) return x.kept;
    if (rank_[a] != rank_[b]) return rank_[a] < rank_[b];
    if (height_[a] != height_[b]) return height_[a] > height_[b];  // what goes on longest stays where it is
    return x.score != y.score ? x.score > y.score : a < b;
  }

  /// `first`: before the first line; `before`: before the others.
  void draw(size_t at, const std::string& first, const std::string& before) {
    for (bool is_first = true;; is_first = false) {
      lines_.push_back(line_of(at, is_first ? first : before));
      const std::vector<size_t>& children = children_[at];
      const auto kept = static_cast<size_t>(
          std::count_if(children.begin(), children.end(), [&](size_t child) { return beam_.nodes[child].kept; }));
      if (kept < children.size()) {
        const std::string branch = kept > 0 ? "├ " : "└ ";
        lines_.push_back(
            {.before = before + branch + kDropped + " ",
             .token = dropped(std::vector<size_t>(children.begin() + static_cast<ptrdiff_t>(kept), children.end())),
             .is_kept = false});
      }
      for (size_t side = kept; side-- > 1;) draw(children[side], before + "├─", before + "│ ");
      if (kept == 0) return;
      at = children.front();
    }
  }

  std::string dropped(const std::vector<size_t>& nodes) const {
    std::string text;
    for (const size_t node : nodes)
      text += fmt::format("{}{} {:.2f}", text.empty() ? "" : ", ", token_of(node), beam_.nodes[node].score);
    return text;
  }

  Line line_of(size_t at, const std::string& before) const {
    const view::BeamNode& node = beam_.nodes[at];
    Line line{.before = before + kKept + " ", .token = token_of(at), .is_best = rank_[at] == 1};
    if (node.parent < 0) return line;
    line.after = fmt::format("  {:7.3f}", node.score);
    if (const std::string seen = most_seen(at); !seen.empty()) line.after += "  ← " + seen;
    if (node.rank > 0)
      line.after += fmt::format("  #{} {:.3f}{}", node.rank, node.ranked_by, node.finished ? "" : ", cut off");
    else if (node.finished)
      line.after += fmt::format("  finished {:.3f}", node.ranked_by);
    return line;
  }

  std::string token_of(size_t at) const { return isolated(cut_to(shown_token(beam_.nodes[at].token), kWidestToken)); }

  /// The key with the most attention; empty if that is not known.
  std::string most_seen(size_t at) const {
    if (beam_.keys.empty()) return "";
    const std::vector<std::string>& keys = example_.sequence(beam_.keys).tokens;
    const auto row = beam_.weights.begin() + static_cast<ptrdiff_t>(at * keys.size());
    const auto most = std::max_element(row, row + std::ssize(keys));
    return isolated(cut_to(shown_token(keys[static_cast<size_t>(most - row)]), kWidestToken));
  }

  const view::Example& example_;
  const view::Beam& beam_;
  std::vector<std::vector<size_t>> children_;  // [nodes], the leading one first, dropped ones last
  std::vector<int64_t> height_;                // [nodes] steps that follow
  std::vector<int64_t> rank_;                  // [nodes] of the best output that goes through it
  std::vector<Line> lines_;
};

}  // namespace

std::string beam_tree(const view::Example& example, const Terminal& terminal) {
  const std::vector<Line> lines = Drawing(example).lines();
  const auto width = [](const Line& line) { return columns_of(line.before) + columns_of(line.token); };
  size_t widest = 0;
  for (const Line& line : lines)
    if (line.is_kept) widest = std::max(widest, width(line));
  constexpr size_t kNumbers = 30;  // columns
  widest = std::min(widest, std::max(terminal.width(), 2 * kNumbers) - kNumbers);
  const bool sees = !example.beam->keys.empty();
  std::string text = terminal.faint(fmt::format("{} kept, {} dropped; log p so far{}; #rank and score of outputs",
                                                kKept, kDropped, sees ? ", ← what it looked at most" : "")) +
                     "\n";
  for (const Line& line : lines) {
    if (!line.is_kept) {
      text += terminal.faint(cut_to(line.before + line.token, terminal.width())) + "\n";
      continue;
    }
    text += line.before + (line.is_best ? terminal.bold(line.token) : line.token);
    if (!line.after.empty()) text += std::string(widest - std::min(widest, width(line)), ' ') + line.after;
    text += "\n";
  }
  return text;
}

}  // namespace heed::cli
