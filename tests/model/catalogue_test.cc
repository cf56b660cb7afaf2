// Every mechanism of the catalogue by its name, in both kinds of model: it trains, or it is refused with the reason
// that stands here.
#include <map>

#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "heed/train/optimise/adam.h"
#include "tests/model/small.h"

namespace heed::model::test {
namespace {

/// What is refused, and a part of the reason. All others must train.
using Refused = std::map<std::string, std::string>;
Refused refused_by_both() {
  return {{"documents", "needs a document id for every token"},
          {"key_value_mode", "one vector per token that is both"},
          {"learned_query", "no place for the query"},
          {"hierarchical", "documents made of sentences"},
          {"structured", "no place for the query"},
          {"key_value", "there are two sequences"}};
}
Refused refused_by(const std::string& kind) {
  Refused all = refused_by_both();
  if (kind == "rnn") all.insert({{"intra", "general is the same score"}, {"self_attention", "cross_attention"}});
  if (kind == "transformer")
    for (const char* structure : {"feed_forward", "location_aware", "hierarchical_query"})
      all.insert({structure, "use multi_head (kv_heads below heads"});
  return all;
}

Options named(const std::string& kind, const std::string& entry) {
  Options o = small(kind);
  o.attention.key_width = o.width;  // so that key_value_mode asks for values of their own
  o.attention = attend::options_of(entry, o.attention);
  return o;
}

struct Trial {
  std::string kind, entry;
};
void PrintTo(const Trial& t, std::ostream* out) { *out << t.kind << " " << t.entry; }

std::vector<Trial> trials() {
  std::vector<Trial> all;
  for (const char* kind : {"rnn", "transformer"})
    for (const attend::Entry* entry : attend::all()) all.push_back({kind, entry->name});
  return all;
}

class Catalogue : public testing::TestWithParam<Trial> {};

/// A model whose weights are loaded next has names and shapes, and no memory for them.
void expect_no_memory_before_loading(const Options& options, const Parameters& drawn) {
  Parameters empty(0, Start::empty);
  const Seq2Seq model(empty, options);
  ASSERT_EQ(empty.size(), drawn.size());
  for (const Parameter& p : drawn) {
    const Parameter* other = empty.find(p.name);
    ASSERT_TRUE(other) << p.name;
    EXPECT_EQ(other->shape, p.shape) << p.name;
    EXPECT_TRUE(other->value.empty() && other->trainable == p.trainable) << p.name;
  }
}

TEST(CatalogueModels, NoMemoryBeforeLoading) {
  std::vector<Options> all;
  for (const char* cell : {"gru", "lstm"})
    for (const bool bidirectional : {false, true}) {
      all.push_back(small("rnn"));
      all.back().cell = cell;
      all.back().bidirectional = bidirectional;
    }
  for (const char* positions : {"sinusoidal", "learned", "rotary", "alibi", "none"})
    for (const char* norm : {"pre", "post"}) {
      all.push_back(small("transformer"));
      all.back().positions = positions;
      all.back().norm = norm;
    }
  for (const Options& options : all) expect_no_memory_before_loading(options, Made(options).parameters);
}

/// Weights packed for their products, and nothing beside them: the same bits, and nobody asks for the numbers.
void expect_one_copy_for_inference(Made& made, const Batch& batch) {
  const LogProbs whole = at_once(made.model, batch), steps = by_steps(made.model, batch);
  made.parameters.pack();
  EXPECT_EQ(at_once(made.model, batch), whole);
  EXPECT_EQ(by_steps(made.model, batch), steps);
  for (const Parameter& p : made.parameters) EXPECT_EQ(p.value.is_packed(), p.product.has_value()) << p.name;
}

TEST_P(Catalogue, TrainsOrIsRefused) {
  const auto& [kind, entry] = GetParam();
  const Refused refused = refused_by(kind);
  if (const auto why = refused.find(entry); why != refused.end()) {
    Parameters parameters;
    try {
      const Seq2Seq model(parameters, named(kind, entry));
      FAIL() << "was not refused";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(why->second), std::string::npos) << error.what();
    }
    return;
  }
  Made made(named(kind, entry));
  expect_no_memory_before_loading(named(kind, entry), made.parameters);
  const Batch batch(ragged());
  optimise::Adam adam(made.parameters);
  std::vector<double> losses;
  for (uint64_t step = 0; step <= 3; ++step) {
    Tape tape({.seed = step});
    made.parameters.forget_gradients();
    const OutputLoss loss = made.model.loss(tape, batch, {.scale = 1.0f / static_cast<float>(batch.rows())});
    ASSERT_TRUE(std::isfinite(loss.loss.item()));
    losses.push_back(loss.negative_log_likelihood);
    tape.backward(loss.loss);
    for (const Parameter& p : made.parameters)
      for (const float g : p.gradient) ASSERT_TRUE(!p.has_gradient || std::isfinite(g)) << p.name;
    adam.step(0.01f);
  }
  for (size_t step = 1; step < losses.size(); ++step) EXPECT_LT(losses[step], losses[step - 1]) << "step " << step;
  expect_one_copy_for_inference(made, batch);
}

INSTANTIATE_TEST_SUITE_P(, Catalogue, testing::ValuesIn(trials()),
                         [](const auto& info) { return info.param.kind + "_" + info.param.entry; });

TEST(CatalogueList, EveryRefusedNameIsInIt) {
  for (const char* kind : {"rnn", "transformer"})
    for (const auto& [name, why] : refused_by(kind)) EXPECT_EQ(attend::find(name).name, name);
}

/// A recipe says one word: the part's option, without what options_of() adds.
TEST(CatalogueWord, AloneIsEnough) {
  for (const char* kind : {"rnn", "transformer"})
    for (const attend::Entry* entry : attend::all()) {
      if (entry->part == attend::Part::input || refused_by(kind).count(entry->name) > 0) continue;
      if (std::string(entry->name) == "sinks") continue;  // by itself it says not how many
      Options o = small(kind);
      attend::each_option(o.attention, [&](const std::string& name, auto& field) {
        if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>)
          if (name == attend::name_of(entry->part)) field = entry->name;
      });
      Parameters parameters;
      EXPECT_NO_THROW(Seq2Seq(parameters, o)) << kind << " " << entry->name;
    }
}

}  // namespace
}  // namespace heed::model::test
