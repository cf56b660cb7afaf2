// Every mechanism of the catalogue by its name, in models of running text and of labels: it trains, or it is refused
// with the reason that stands here.
#include <map>

#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/task/classification/classifier.h"
#include "heed/task/classification/labelled_texts.h"
#include "heed/task/language_model/language_model.h"
#include "heed/task/language_model/text_pieces.h"
#include "heed/train/optimise/adam.h"
#include "tests/model/slopes.h"

namespace heed::model::test {
namespace {

using task::Classifier;
using task::LanguageModel;

/// What is refused, and a part of the reason. All others must train.
using Reasons = std::map<std::string, std::string>;

Reasons reasons_of(const std::string& kind) {
  if (kind == "label") {
    Reasons all = {{"static", "first and last row"},
                   {"forward_only", "queries in order"},
                   {"key_value_mode", "separate values"},
                   {"multi_head", "does not turn a text into a vector"},
                   {"key_value", "does not turn a text into a vector"},
                   {"location_aware", "does not turn a text into a vector"},
                   {"hierarchical_query", "does not turn a text into a vector"}};
    for (const char* region :
         {"intra", "local_m", "local_p", "causal", "not_self", "masked", "sliding_window", "documents", "sinks"})
      all[region] = "depends on where a query stands";
    return all;
  }
  Reasons all = {{"learned_query", "quer"},
                 {"hierarchical", "hierarchical"},
                 {"structured", "structured"},
                 {"feed_forward", "feed_forward"},
                 {"location_aware", "location_aware"},
                 {"hierarchical_query", "hierarchical_query"}};
  if (kind == "text_transformer") {
    all.insert({{"key_value_mode", "separate values"},
                {"key_value", "looks from each state of a language model"},
                {"local_h", "a window of its own"}});
    return all;
  }
  for (const char* time : {"static", "forced_forward", "guided", "forward_only"})
    all[time] = "a target that moves along a source";
  all.insert({{"local_p", "a position in a source"},
              {"documents", "each document by itself"},
              {"not_self", "leaves a query's own key out already"}});
  return all;
}

struct TextTrial {
  std::string kind, entry;
};
void PrintTo(const TextTrial& t, std::ostream* out) { *out << t.kind << " " << t.entry; }

std::vector<TextTrial> text_trials() {
  std::vector<TextTrial> all;
  for (const char* kind : {"text_rnn", "text_transformer", "label"})
    for (const attend::Entry* entry : attend::all()) all.push_back({kind, entry->name});
  return all;
}

constexpr int64_t kWords = 9, kLabels = 3;

Options options_for(const TextTrial& trial) {
  const bool label = trial.kind == "label";
  Options o{.task = label ? "classification" : "language_model",
            .kind = trial.kind == "text_transformer" ? "transformer" : "rnn",
            .source_vocabulary = kWords,
            .target_vocabulary = label ? kLabels : kWords};
  o.width = 12;
  o.dropout = 0.0f;
  o.context = 16;
  if (o.kind == "transformer") o.attention.heads = 2;
  o.attention.key_width = o.width;
  o.attention = attend::options_of(trial.entry, o.attention);
  return o;
}

std::unique_ptr<Model> model_of(Parameters& parameters, const TextTrial& trial) {
  const Options o = options_for(trial);
  if (trial.kind == "label") return std::make_unique<Classifier>(parameters, o);
  return std::make_unique<LanguageModel>(parameters, o);
}

data::Batch batch_for(const TextTrial& trial) {
  if (trial.kind == "label") {
    task::LabelledTexts all;
    const auto add = [&](const std::vector<int32_t>& tokens, const std::vector<int32_t>& lengths, int32_t label) {
      all.add({.source = {.tokens = tokens, .sentences = lengths}, .labels = {&label, 1}, .line = all.size() + 1});
    };
    add({4, 7, 7}, {3}, 2);
    add({5, 3, 8, 4, 6, 7}, {2, 3, 1}, 0);
    add({3, 3, 5, 8, 7}, {4, 1}, 1);
    const std::vector<int64_t> order = {0, 1, 2};
    return all.pack(order);
  }
  auto tokens = std::make_shared<task::TokenStore>();
  tokens->add(std::vector<int32_t>{1, 4, 5, 6, 1, 7, 8, 3, 1, 4, 4, 6, 2, 1, 5, 3, 7, 2});
  tokens->finish();
  const task::TextPieces pieces(tokens, 0, {.length = 100});
  const std::vector<int64_t> first = {0};
  return pieces.pack(first);
}

class TextCatalogue : public testing::TestWithParam<TextTrial> {};

TEST_P(TextCatalogue, TrainsOrIsRefused) {
  const Reasons reasons = reasons_of(GetParam().kind);
  const auto why = reasons.find(GetParam().entry);
  Parameters parameters(1);
  std::unique_ptr<Model> model;
  try {
    model = model_of(parameters, GetParam());
  } catch (const Error& error) {
    ASSERT_NE(why, reasons.end()) << error.what();
    EXPECT_NE(std::string(error.what()).find(why->second), std::string::npos) << error.what();
    return;
  }
  ASSERT_EQ(why, reasons.end()) << "was not refused";
  const data::Batch batch = batch_for(GetParam());
  optimise::Adam adam(parameters);
  std::vector<double> losses;
  for (uint64_t step = 0; step <= 3; ++step) {
    Tape tape({.seed = step});
    parameters.forget_gradients();
    const OutputLoss loss = model->loss(tape, batch, {.scale = 0.1f});
    ASSERT_TRUE(std::isfinite(loss.loss.item()));
    losses.push_back(loss.negative_log_likelihood);
    tape.backward(loss.loss);
    adam.step(0.01f);
  }
  EXPECT_LT(losses.back(), losses.front());
}

INSTANTIATE_TEST_SUITE_P(, TextCatalogue, testing::ValuesIn(text_trials()),
                         [](const auto& info) { return info.param.kind + "_" + info.param.entry; });

}  // namespace
}  // namespace heed::model::test
