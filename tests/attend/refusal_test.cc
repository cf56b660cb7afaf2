// What makes no attention is refused before anything runs, and the message says why.
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "tests/attend/cases.h"
#include "tests/attend/library.h"

namespace heed::attend::test {
namespace {

struct Refused {
  std::string name;
  std::string entry;  // options_of this, with small widths
  std::function<void(Options&)> change;
  std::string says;  // a part of the reason
};

void PrintTo(const Refused& r, std::ostream* to) { *to << r.name; }

std::vector<Refused> refused() {
  return {
      {"unknown_score", "dot", [](Options& o) { o.score = "aditive"; }, "additive"},
      {"unknown_normaliser", "dot", [](Options& o) { o.normalise = "sofmax"; }, "softmax"},
      {"unknown_region", "dot", [](Options& o) { o.region = "casual"; }, "causal"},
      {"unknown_region_in_a_sum", "dot", [](Options& o) { o.region = "causal+slidingwindow"; }, "sliding_window"},
      {"a_region_twice", "dot", [](Options& o) { o.region = "causal+sliding_window+causal"; }, "names causal twice"},
      {"empty_region", "dot", [](Options& o) { o.region = ""; }, "region"},
      {"unknown_time", "dot", [](Options& o) { o.time = "dinamic"; }, "dynamic"},
      {"unknown_structure", "dot", [](Options& o) { o.structure = "multihead"; }, "multi_head"},
      {"unknown_input", "dot", [](Options& o) { o.input = "self"; }, "self_attention"},
      {"unknown_position", "dot", [](Options& o) { o.position = "sideways"; }, "sideways"},
      {"a_word_of_another_part", "dot", [](Options& o) { o.score = "softmax"; }, "score"},
      {"no_key_width", "dot", [](Options& o) { o.key_width = 0; }, "key_width"},
      {"negative_query_width", "dot", [](Options& o) { o.query_width = -1; }, "query_width"},
      {"negative_value_width", "dot", [](Options& o) { o.value_width = -3; }, "value_width"},
      {"negative_hidden", "additive", [](Options& o) { o.hidden = -1; }, "hidden"},
      {"negative_width", "multi_head", [](Options& o) { o.width = -8; }, "width"},
      {"negative_output_width", "multi_head", [](Options& o) { o.output_width = -8; }, "output_width"},
      {"dot_of_unequal_widths", "dot", [](Options& o) { o.query_width = 6; }, "width 6"},
      {"scaled_dot_of_unequal_widths", "scaled_dot", [](Options& o) { o.key_width = 6; }, "width 6"},
      {"cosine_of_unequal_widths", "cosine", [](Options& o) { o.key_width = 6; }, "width 6"},
      {"mixture_of_unequal_widths", "synthesizer_mixture", [](Options& o) { o.key_width = 6; }, "width 6"},
      {"shared_projection_of_unequal_widths", "projected", [](Options& o) { o.shared_projection = true; },
       "shared_projection"},
      {"static_dot", "static", [](Options& o) { o.score = "dot"; }, "width"},
      {"self_attention_of_unequal_widths", "self_attention", [](Options& o) { o.query_width = 6; }, "query_width"},
      {"intra_that_sees_itself", "intra", [](Options& o) { o.strict = false; }, "strict"},
      {"intra_that_sees_everything", "intra", [](Options& o) { o.region = "global"; }, "causal"},
      {"forced_forward_sparsemax", "forced_forward", [](Options& o) { o.normalise = "sparsemax"; }, "softmax"},
      {"forced_forward_hard", "forced_forward", [](Options& o) { o.normalise = "hard"; }, "softmax"},
      {"forced_forward_sampled", "forced_forward", [](Options& o) { o.normalise = "hard_sampled"; }, "softmax"},
      {"forced_forward_relu", "forced_forward", [](Options& o) { o.normalise = "relu"; }, "softmax"},
      {"forced_forward_sink", "forced_forward", [](Options& o) { o.region = "sinks", o.learned_sink = true; }, "sink"},
      {"sink_without_softmax", "sinks", [](Options& o) { o.learned_sink = true, o.normalise = "sigmoid"; }, "sink"},
      {"sink_without_region", "global", [](Options& o) { o.learned_sink = true; }, "sink"},
      {"negative_sinks", "sinks", [](Options& o) { o.sinks = -1; }, "sinks"},
      {"shared_heads_of_the_same_rows", "intra", [](Options& o) { o.heads = 4, o.kv_heads = 2; },
       "so query_width must be 16 for key_width = 8, not 8; or project = true"},
      {"no_heads", "dot", [](Options& o) { o.heads = 0; }, "heads"},
      {"negative_heads", "dot", [](Options& o) { o.heads = -2; }, "heads"},
      {"heads_that_do_not_divide", "dot", [](Options& o) { o.heads = 3; }, "3 heads"},
      {"heads_that_do_not_divide_the_projection", "multi_head", [](Options& o) { o.heads = 3; }, "3 heads"},
      {"shared_heads_that_do_not_divide", "dot", [](Options& o) { o.heads = 4, o.kv_heads = 3; }, "kv_heads"},
      {"negative_shared_heads", "dot", [](Options& o) { o.kv_heads = -1; }, "kv_heads"},
      {"values_that_heads_do_not_divide", "dot", [](Options& o) { o.heads = 2, o.value_width = 5; }, "value_width"},
      {"negative_dropout", "dot", [](Options& o) { o.dropout = -0.1f; }, "dropout"},
      {"full_dropout", "dot", [](Options& o) { o.dropout = 1.0f; }, "dropout"},
      {"dropout_that_is_no_number", "dot", [](Options& o) { o.dropout = NAN; }, "dropout"},
      {"negative_softcap", "dot", [](Options& o) { o.softcap = -1.0f; }, "softcap"},
      {"softcap_without_a_score", "synthesizer_dense", [](Options& o) { o.softcap = 1.0f; }, "softcap"},
      {"softcap_without_a_score_at_random", "synthesizer_random", [](Options& o) { o.softcap = 1.0f; }, "softcap"},
      {"softcap_of_a_mixture", "synthesizer_mixture", [](Options& o) { o.softcap = 1.0f; }, "softcap"},
      {"no_depth", "mlp", [](Options& o) { o.depth = 0; }, "depth"},
      {"unknown_activation", "mlp", [](Options& o) { o.activation = "sine"; }, "sine"},
      {"unknown_form", "self_scored", [](Options& o) { o.form = "matrix"; }, "matrix"},
      {"no_samples", "hard_sampled", [](Options& o) { o.samples = 0; }, "samples"},
      {"unknown_way_at_test", "hard_sampled", [](Options& o) { o.at_test = "median"; }, "median"},
      {"divided_softmax", "softmax", [](Options& o) { o.divide_by_visible = true; }, "divide_by_visible"},
      {"negative_window", "local_m", [](Options& o) { o.window = -1; }, "window"},
      {"negative_sliding_window", "sliding_window", [](Options& o) { o.window = -1; }, "window"},
      {"predicted_window_of_nothing", "local_p", [](Options& o) { o.window = 0; }, "window"},
      {"heads_of_sentences", "hierarchical_query", [](Options& o) { o.heads = 2; }, "one head"},
      {"sentences_that_move", "hierarchical_query", [](Options& o) { o.time = "forced_forward"; }, "dynamic"},
      {"half_sentences", "hierarchical_query", [](Options& o) { o.region = "local_m"; }, "whole sentences"},
      {"sentences_without_a_query", "hierarchical_query", [](Options& o) { o.score = "synthesizer_random"; },
       "compares"},
      {"heads_that_look_on", "location_aware", [](Options& o) { o.heads = 2; }, "one head"},
      {"no_filters", "location_aware", [](Options& o) { o.filters = 0; }, "filters of at least 1"},
      {"filters_that_reach_back", "location_aware", [](Options& o) { o.filter_reach = -1; }, "filter_reach"},
      {"two_memories_of_steps", "location_aware", [](Options& o) { o.time = "forced_forward"; }, "dynamic or guided"},
      {"a_choice_that_cannot_move", "local_h", [](Options& o) { o.straight_through = true; }, "sigma above 0"},
      {"a_choice_and_a_prediction", "local_h", [](Options& o) { o.region = "local_h+local_p"; }, "cannot be combined"},
      {"negative_sigma_of_a_choice", "local_h", [](Options& o) { o.sigma = -1.0f; }, "sigma"},
      {"negative_window_of_a_choice", "local_h", [](Options& o) { o.window = -1; }, "window"},
      {"negative_sigma", "local_p", [](Options& o) { o.sigma = -1.0f; }, "sigma"},
      {"no_guide", "guided", [](Options& o) { o.guide_sigma = 0.0f; }, "guide_sigma"},
      {"reward_for_straying", "guided", [](Options& o) { o.guide_weight = -1.0f; }, "guide_weight"},
      {"no_length", "synthesizer_random", [](Options& o) { o.max_length = 0; }, "max_length"},
      {"no_reach", "dot", [](Options& o) { o.position = "relative", o.reach = 0; }, "reach"},
      {"no_learned_queries", "learned_query", [](Options& o) { o.queries = 0; }, "queries"},
      {"no_structured_queries", "structured", [](Options& o) { o.queries = 0; }, "queries"},
      {"structured_heads", "structured", [](Options& o) { o.heads = 2; }, "heads"},
      {"learned_queries_that_move", "learned_query", [](Options& o) { o.time = "forward_only"; }, "learned"},
      {"three_choices_that_move", "forward_only", [](Options& o) { o.normalise = "hard_sampled", o.samples = 3; },
       "samples"},
      {"learned_and_static", "learned_query", [](Options& o) { o.time = "static"; }, "static"},
      {"learned_queries_of_documents", "learned_query", [](Options& o) { o.region = "documents"; }, "document"},
      {"static_documents", "static", [](Options& o) { o.region = "documents"; }, "document"},
      {"static_with_positions", "static", [](Options& o) { o.position = "alibi"; }, "static"},
      {"misspelt_position", "dot", [](Options& o) { o.position = "rotory"; }, "'rotary'"},
      {"static_that_turns", "static", [](Options& o) { o.position = "rotary"; }, "static"},
      {"learned_queries_that_turn", "learned_query", [](Options& o) { o.position = "rotary"; }, "learned_query"},
      {"structured_queries_that_turn", "structured", [](Options& o) { o.position = "rotary"; }, "structured"},
      {"feed_forward_that_turns", "feed_forward", [](Options& o) { o.position = "rotary"; }, "feed_forward"},
      {"hierarchy_that_turns", "hierarchical", [](Options& o) { o.position = "rotary"; }, "hierarchical"},
      {"key_value_that_turns", "key_value", [](Options& o) { o.position = "rotary"; }, "key_value"},
      {"odd_heads_that_turn", "dot",
       [](Options& o) { o.position = "rotary", o.heads = 2, o.query_width = o.key_width = 6; }, "even, not 3"},
      {"odd_projection_that_turns", "projected", [](Options& o) { o.position = "rotary", o.hidden = 5; },
       "even, not 5"},
      {"state_that_has_no_half", "key_value", [](Options& o) { o.key_width = o.query_width = 7; }, "7"},
      {"state_that_has_no_third", "key_value", [](Options& o) { o.key_width = o.query_width = 8, o.predict = 1; },
       "3 equal parts"},
      {"key_value_heads", "key_value", [](Options& o) { o.heads = 2; }, "key_value"},
      {"key_value_of_another_score", "key_value", [](Options& o) { o.score = "cosine"; }, "key_value"},
      {"key_value_without_a_past", "key_value", [](Options& o) { o.window = 0; }, "window"},
      {"four_parts_of_a_state", "key_value", [](Options& o) { o.predict = 2; }, "predict must be 0"},
      {"temperature_that_is_no_number", "cosine", [](Options& o) { o.temperature = NAN; },
       "temperature must be a finite"},
      {"endless_dropout", "dot", [](Options& o) { o.dropout = INFINITY; }, "dropout must be a finite"},
      {"width_of_a_planet", "dot", [](Options& o) { o.key_width = int64_t{1} << 31; },
       "key_width must be at most 2^20"},
      {"window_of_a_planet", "local_m", [](Options& o) { o.window = int64_t{1} << 31; }, "window must be at most 2^30"},
      {"no_sinks", "sinks", [](Options& o) { o.sinks = 0; }, "set sinks to 1"},
      {"baseline_that_never_moves", "hard_sampled", [](Options& o) { o.baseline_decay = 1.0f; }, "baseline_decay"},
      {"order_wanted", "hard_sampled", [](Options& o) { o.entropy_weight = -1.0f; }, "entropy_weight"},
      {"negative_classes", "hierarchical", [](Options& o) { o.classes = -1; }, "classes"},
      {"hierarchical_window", "hierarchical", [](Options& o) { o.region = "causal"; }, "region"},
      {"feed_forward_of_another_score", "feed_forward", [](Options& o) { o.score = "dot"; }, "self_scored"},
  };
}

class Refusal : public testing::TestWithParam<Refused> {};

TEST_P(Refusal, SaysWhy) {
  const Refused& r = GetParam();
  Options o = options_of(r.entry, base_for(r.entry));
  ASSERT_TRUE(refusals(o).empty()) << "before the change: " << refusals(o).front();
  r.change(o);
  const std::vector<std::string> reasons = refusals(o);
  ASSERT_FALSE(reasons.empty());
  const bool said = std::any_of(reasons.begin(), reasons.end(),
                                [&](const std::string& reason) { return reason.find(r.says) != std::string::npos; });
  EXPECT_TRUE(said) << "'" << r.says << "' is not in: " << reasons.front();
  Parameters parameters;
  try {
    make(Scope(parameters), o);
    FAIL() << "make() did not throw";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(reasons.front()), std::string::npos) << error.what();
  }
  EXPECT_EQ(parameters.size(), 0u) << "refused, but parameters were made";
}

INSTANTIATE_TEST_SUITE_P(Options, Refusal, testing::ValuesIn(refused()),
                         [](const testing::TestParamInfo<Refused>& info) { return info.param.name; });

/// Rotary positions turn q' and k' before their product: scores without one are refused, all others are not.
TEST(Refusals, RotaryNeedsAProduct) {
  const std::set<std::string> without = {"additive", "mlp", "self_scored", "synthesizer_dense", "synthesizer_random"};
  size_t refused = 0;
  for (const std::string& score : names_of(Part::score)) {
    Options o = words_case({.score = score}).options;
    o.hidden = 4;
    o.position = "rotary";
    const std::vector<std::string> reasons = refusals(o);
    ASSERT_EQ(reasons.empty(), without.count(score) == 0) << score << (reasons.empty() ? "" : ": " + reasons.front());
    if (reasons.empty()) continue;
    ++refused;
    EXPECT_NE(reasons.front().find(score + " does not multiply"), std::string::npos) << reasons.front();
    EXPECT_NE(reasons.front().find("scaled_dot"), std::string::npos) << reasons.front();
  }
  EXPECT_EQ(refused, without.size());
}

TEST(Refusals, AreAllNamedAtOnce) {
  Options o = options_of("dot", base_for("dot"));
  o.dropout = 2.0f;
  o.softcap = -1.0f;
  const std::vector<std::string> reasons = refusals(o);
  EXPECT_EQ(reasons.size(), 2u);
  Parameters parameters;
  try {
    make(Scope(parameters), o);
    FAIL() << "make() did not throw";
  } catch (const Error& error) {
    for (const std::string& reason : reasons) EXPECT_NE(std::string(error.what()).find(reason), std::string::npos);
  }
}

TEST(Find, OffersTheNearestName) {
  EXPECT_EQ(&find("concat"), &find("additive"));
  for (const auto& [wrong, meant] :
       {std::pair{"aditive", "additive"}, {"soft_max", "softmax"}, {"local-p", "local_p"}}) {
    try {
      find(wrong);
      FAIL() << wrong << " was found";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(std::string("'") + meant + "'"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(find("softmax", Part::score), Error);
  EXPECT_THROW(options_of("no such thing", {}), Error);
}

// --------------------------------------------------------------------------------- what only a call can get wrong

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Call, IsRefusedWithTheReason) {
  const auto run = [](Case c) { return message_of([&] { Library(c).run(Run::at_once); }); };
  const auto has = [](const std::string& message, const std::string& part) {
    return message.find(part) != std::string::npos ? testing::AssertionSuccess()
                                                   : testing::AssertionFailure() << "'" << part << "' in: " << message;
  };
  for (const std::string name : {"synthesizer_dense", "synthesizer_random", "synthesizer_mixture"}) {
    Case c = entry_case(name);
    c.key_lengths = {1, 5, 10};  // max_length is 9
    EXPECT_TRUE(has(run(c), "max_length")) << name;
    c = entry_case(name);
    c.query_lengths = {1, 5, 10};
    EXPECT_TRUE(has(run(c), "max_length")) << name;
  }
}

TEST(Call, NeedsAsManySequencesAsTheMemory) {
  Library library(entry_case("dot"));
  Tape tape;
  const std::vector<float> rows(6 * 8, 0.5f);
  const Tensor all = tape.input(rows.data(), 6, 8);
  const PreparedMemory prepared = library.mechanism().prepare({{all, tape.even_offsets(3, 2)}});
  EXPECT_NE(message_of([&] {
              library.mechanism().attend({{all, tape.even_offsets(2, 3)}}, prepared);
            }).find("3 in the memory"),
            std::string::npos);
}

TEST(Call, NeedsDocumentsWhereTheRegionDoes) {
  Case c = entry_case("documents");
  Library library(c);
  Tape tape;
  const std::vector<float> rows(4 * 8, 0.5f);
  const Packed packed{tape.input(rows.data(), 4, 8), tape.even_offsets(1, 4)};
  const PreparedMemory prepared = library.mechanism().prepare({packed});
  EXPECT_NE(message_of([&] { library.mechanism().attend({packed}, prepared); }).find("document"), std::string::npos);
}

TEST(Call, TakesNoSentencesWhereNothingReadsThem) {
  Case c = entry_case("dot");
  Library library(c);
  Tape tape;
  const std::vector<float> rows(4 * 8, 0.5f);
  const Packed packed{tape.input(rows.data(), 4, 8), tape.even_offsets(2, 2)};
  Memory memory{packed};
  memory.sentences = tape.even_offsets(1, 2);
  EXPECT_NE(message_of([&] { library.mechanism().prepare(memory); }).find("only hierarchical attention reads"),
            std::string::npos);
}

TEST(Call, DoesNotGrowBeyondItsRoom) {
  Case c = entry_case("multi_head");
  c.options.input = "self_attention";
  c.options.region = "causal";
  Library library(c);
  Tape tape;
  const std::vector<float> row(2 * 8, 0.5f);
  PreparedMemory prepared = library.mechanism().begin(tape, 2, 1);
  prepared = library.mechanism().extend(prepared, {{tape.input(row.data(), 2, 8), {}}});
  EXPECT_NE(message_of([&] {
              library.mechanism().extend(prepared, {{tape.input(row.data(), 2, 8), {}}});
            }).find("room"),
            std::string::npos);
}

// ------------------------------------------------------------------------------------- every word with every word

/// What has no meaning, and nothing else, may be refused.
bool makes_sense(const Words& w) {
  const bool wide_query = w.time == "static";  // twice the key's width
  if (wide_query && (w.score == "dot" || w.score == "scaled_dot" || w.score == "cosine" ||
                     w.score == "synthesizer_mixture" || w.score == "intra"))
    return false;
  if (w.time == "static" && w.region == "documents") return false;  // a query made of the memory's ends has no document
  if (w.score == "intra" && w.region == "not_self") return false;   // it never sees itself
  if (w.time == "forced_forward" && w.normalise != "softmax") return false;
  return true;
}

bool finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

TEST(EveryCombination, RunsOrIsRefusedWithAReason) {
  int64_t made = 0, refused = 0;
  for (const std::string& score : names_of(Part::score))
    for (const std::string& normalise : names_of(Part::normalise))
      for (const std::string& region : names_of(Part::region))
        for (const std::string& time : names_of(Part::time)) {
          const Words words{score, normalise, region, time};
          const Case c = words_case(words);
          const std::vector<std::string> reasons = refusals(c.options);
          ASSERT_EQ(reasons.empty(), makes_sense(words)) << c.name << (reasons.empty() ? "" : ": " + reasons.front());
          for (const std::string& reason : reasons) EXPECT_FALSE(reason.empty()) << c.name;
          if (!reasons.empty()) {
            ++refused;
            continue;
          }
          ++made;
          try {
            const Outcome got = Library(c).run(Run::at_once);
            EXPECT_TRUE(finite(got.context.data) && finite(got.weights.data)) << c.name;
            for (const auto& [name, gradient] : got.gradients)
              EXPECT_TRUE(finite(gradient.data)) << c.name << " " << name;
          } catch (const Error& error) {
            ADD_FAILURE() << c.name << ": " << error.what();
          }
        }
  EXPECT_EQ(made + refused, static_cast<int64_t>(names_of(Part::score).size() * names_of(Part::normalise).size() *
                                                 names_of(Part::region).size() * names_of(Part::time).size()));
  EXPECT_GT(made, 2000);
}

TEST(Unread, OptionsOfOtherMechanisms) {
  Options o = options_of("dot", base_for("dot"));
  o.depth = 3;
  o.strict = true;
  const auto sentences = unread(o, {"depth", "strict", "heads", "dropout"});
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_NE(sentences[0].find("depth is an option of mlp"), std::string::npos) << sentences[0];
  EXPECT_NE(sentences[1].find("strict is an option of causal"), std::string::npos) << sentences[1];
  o.depth = Options().depth;
  EXPECT_EQ(unread(o, {"depth"}).size(), 0u) << "as by default it changes nothing";
  o.region = "causal";
  EXPECT_EQ(unread(o, {"strict"}).size(), 0u);
}

}  // namespace
}  // namespace heed::attend::test
