#include "cli/example_picture.h"

#include <fmt/format.h>

#include "heed/view/draw.h"
#include "heed/view/svg.h"

namespace heed::cli {

std::string example_picture(const attend::Entry& entry, const ExampleOptions& options) {
  const WorkedExample e = worked_example(entry, options);
  if (!e.refused.empty()) return "";
  view::Matrix matrix{.title = fmt::format("{}: weights of a sentence", entry.name),
                      .columns = e.keys,
                      .rows = {},
                      .weights = e.weights,
                      .legend = true};
  for (int64_t h = 0; h < e.heads; ++h)
    for (const std::string& query : e.queries)
      matrix.rows.push_back(e.heads > 1 ? fmt::format("{}, head {}", query, h + 1) : query);
  return view::svg_text(view::drawing_of(matrix), view::Colours::own);
}

}  // namespace heed::cli
