#include "cli/error_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/counter.h"
#include "heed/base/atomic.h"
#include "heed/base/error.h"
#include "heed/view/look.h"
#include "heed/view/page.h"

namespace heed::cli {

namespace {

constexpr size_t kUsual = 100;             // outputs: as many as anyone reads
constexpr size_t kMostBytes = 32'000'000;  // of weights and pictures: browsers open that within seconds

/// What an example adds to the page: a byte for each weight, in base64.
size_t bytes_of(const view::Example& example) {
  size_t bytes = example.picture ? example.picture->png.size() : 0;
  for (const view::Map& map : example.maps) bytes += map.weights.size();
  return bytes / 3 * 4;
}

}  // namespace

void expect_error_page(const predict::Predictor& predictor) {
  expect(!view::page_html().empty(),
         "this heed was built without the page, because npm was missing: --errors=FILE works without it");
  expect(predictor.models() == 1, "evaluate: --html looks into one model, not into an ensemble");
}

std::string write_error_page(const ErrorPage& page, const Errors& errors, const Outputs& outputs,
                             const predict::Predictor& predictor) {
  const view::ModelName name = view::name_of(predictor, page.model);
  view::Document document{.title = fmt::format("{}: {} of {} outputs are wrong", name.name, errors.wrong, errors.all),
                          .models = {name},
                          .examples = {}};
  const size_t most = page.most > 0 ? static_cast<size_t>(page.most) : kUsual;
  const size_t count = std::min(errors.lines.size(), most);
  size_t bytes = 0, at = 0;
  Counter counter("wrong outputs", static_cast<int64_t>(count));
  for (; at < count; ++at) {
    const WrongLine& wrong = errors.lines[at];
    try {
      view::Example example =
          view::look(predictor, outputs.sources[wrong.index], outputs.hypotheses[wrong.index], {.alignments = false});
      bytes += bytes_of(example);
      if (bytes > kMostBytes && !document.examples.empty()) break;
      example.reference = outputs.references[wrong.index][wrong.nearest];
      document.examples.push_back(std::move(example));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      counter.erase();
      warn(fmt::format("line {} is not on the page: {}", wrong.number, error.what()));
    }
    counter.add(1);
  }
  counter.erase();
  file::write_file(page.file, view::html_text(document));
  const size_t shown = document.examples.size();
  std::string said = fmt::format("'{}' shows {} with what the model attended to", page.file,
                                 shown < errors.wrong ? fmt::format("the {} worst", shown) : "them");
  if (at < count) said += "; more would make the page too large to open";
  return said;
}

}  // namespace heed::cli
