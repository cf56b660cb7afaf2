// The body of a request -> what is asked, as heed serve reads it. The first byte chooses the route.
#include <string_view>

#include "heed/data/inline_picture.h"
#include "heed/serve/question.h"
#include "heed/task/decoding_table.h"
#include "tests/fuzz/require.h"

namespace heed::test {
namespace {

using namespace heed::serve;

const RequestLimits kLimits = {.text = 40, .lines = 4, .beam = 8, .length = 50};

void check_text(const std::string& text) { require(text.size() <= 4 * 40, "a text beyond the limit"); }

/// What is accepted keeps to the limits, whatever the search will make of it.
void check_options(const predict::Options& o) {
  require(o.beam >= 0 && o.beam <= kLimits.beam, "beam");
  require(o.nbest >= 1 && o.nbest <= kLimits.beam, "nbest");
  require(o.groups >= 1 && o.groups <= kLimits.beam, "groups");
  require(o.lengths >= 0 && o.lengths <= kLimits.beam, "lengths");
  require(o.max_length >= 0 && o.max_length <= kLimits.length, "max_length");
  require(o.length_penalty >= 0 && o.length_penalty <= 100, "length_penalty");
  require(o.temperature >= task::kColdest && o.temperature <= task::kHottest, "temperature");
  require(o.top_p > 0 && o.top_p <= 1, "top_p");
  require(o.top_k >= 0 && o.candidates == 0 && !o.rerank_reverse && !o.on_text, "an option that no request has");
  for (const auto* phrases : {&o.must, &o.must_not})
    for (const std::string& phrase : *phrases) check_text(phrase);
  check_text(o.prefix);
}

/// A picture inside a line has as many bytes as it needs.
void check_source(const std::string& line) {
  if (!data::is_inline_picture(line)) check_text(line);
}

void check_texts(const std::vector<std::string>& texts) {
  require(!texts.empty() && std::ssize(texts) <= kLimits.lines, "too many texts, or none");
  for (const std::string& text : texts) check_source(text);
}

void ask(char route, std::string_view body) {
  switch (route & 3) {
    case 0: {
      const Question q = read_prediction(body, kLimits);
      check_texts(q.inputs);
      check_options(q.options);
      require(q.several || q.inputs.size() == 1, "several where there is one");
      return;
    }
    case 1: {
      const LookQuestion q = read_look(body, kLimits);
      check_texts(q.question.inputs);
      check_options(q.question.options);
      check_text(q.target);
      return;
    }
    case 2: {
      const ScoreQuestion q = read_score(body, kLimits);
      require(!q.pairs.empty() && std::ssize(q.pairs) <= kLimits.lines, "too many pairs, or none");
      for (const predict::TextPair& pair : q.pairs) {
        check_source(pair.source);
        check_text(pair.target);
      }
      return;
    }
    default: {
      const CompletionQuestion q = read_completion(body, kLimits);
      check_texts(q.prompts);
      for (const std::string& prompt : q.prompts) check_text(prompt);
      check_options(q.options);
      require(q.stops.size() <= 4 && q.choices >= 1 && q.choices <= kLimits.beam, "stops or choices");
    }
  }
}

void check_body(std::string_view bytes) {
  if (bytes.empty()) return;
  try {
    ask(bytes.front(), bytes.substr(1));
  } catch (const Failure& failure) {
    require(failure.status() == 400 || failure.status() == 413, "refused with a strange status");
    require(failure.message().size() > 10, "refused without a reason");
    require(!failure.answer().body.empty(), "a refusal that cannot be written");
  }
}

}  // namespace
}  // namespace heed::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heed::test::check_body({reinterpret_cast<const char*>(data), size});
  return 0;
}
