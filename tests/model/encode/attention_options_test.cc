// Which attention of a Transformer takes what: the table of model/encode/attention_options.h, row by row.
#include "heed/model/encode/attention_options.h"

#include <set>

#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "tests/model/small.h"

namespace heed::encode {
namespace {

StackOptions with(const std::string& entry) {
  StackOptions t{.width = 8};
  t.attention.heads = 2;
  t.attention = attend::options_of(entry, t.attention);
  return t;
}

struct Three {
  attend::Options encoder, decoder, source;
  explicit Three(const StackOptions& t)
      : encoder(encoder_self_attention(t)), decoder(decoder_self_attention(t)), source(source_attention(t, 6)) {
    for (const attend::Options& o : {encoder, decoder, source})
      EXPECT_TRUE(attend::refusals(o).empty()) << attend::refusals(o).front();
  }
};

TEST(Heads, AreProjectedAndWide) {
  const Three three(with("dot"));
  for (const attend::Options& o : {three.encoder, three.decoder, three.source}) {
    EXPECT_EQ(o.structure, "multi_head");
    EXPECT_TRUE(o.project && o.project_output);
    EXPECT_EQ(o.heads, 2);
    EXPECT_EQ(o.query_width, 8);
    EXPECT_EQ(o.output_width, 8);
  }
  EXPECT_EQ(three.encoder.key_width, 8);
  EXPECT_EQ(three.source.key_width, 6);
}

TEST(Regions, BelongToSelfAttention) {
  for (const std::string region : {"local_m", "sliding_window", "sliding_window+sinks", "masked"}) {
    StackOptions t = with("softmax");
    t.attention.region = region;
    t.attention.sinks = 1;
    const Three three(t);
    EXPECT_EQ(three.encoder.region, region);
    EXPECT_EQ(three.decoder.region, "causal+" + region);
    EXPECT_EQ(three.source.region, "global");
  }
  const Three causal(with("causal"));
  EXPECT_EQ(causal.encoder.region, "causal");
  EXPECT_EQ(causal.decoder.region, "causal");
  EXPECT_EQ(causal.source.region, "global");
  StackOptions sink = with("sinks");
  sink.attention.learned_sink = true;
  EXPECT_TRUE(Three(sink).decoder.learned_sink);
  EXPECT_FALSE(Three(sink).source.learned_sink);
}

TEST(Regions, APredictedPlaceIsInTheSource) {
  const Three alone(with("local_p"));
  EXPECT_EQ(alone.encoder.region, "global");
  EXPECT_EQ(alone.decoder.region, "causal");
  EXPECT_EQ(alone.source.region, "local_p");
  StackOptions t = with("local_p");
  t.attention.region = "local_m+local_p";
  EXPECT_EQ(Three(t).encoder.region, "local_m");
  EXPECT_EQ(Three(t).source.region, "local_p");
}

TEST(Positions, BelongToSelfAttention) {
  for (const std::string position : {"alibi", "rotary", "relative"}) {
    StackOptions t = with("softmax");
    t.attention.position = position;
    const Three three(t);
    EXPECT_EQ(three.encoder.position, position);
    EXPECT_EQ(three.decoder.position, position);
    EXPECT_EQ(three.source.position, "none");
  }
}

TEST(Time, BelongsToTheSource) {
  for (const std::string time : {"static", "forced_forward", "guided", "forward_only"}) {
    const Three three(with(time));
    EXPECT_EQ(three.encoder.time, "dynamic");
    EXPECT_EQ(three.decoder.time, "dynamic");
    EXPECT_EQ(three.source.time, time);
  }
}

TEST(Normalisers, AreEverywhereButForDrawing) {
  for (const attend::Entry* entry : attend::all()) {
    if (entry->part != attend::Part::normalise) continue;
    const Three three(with(entry->name));
    const std::string name = entry->name, self = name == "hard_sampled" ? "softmax" : name;
    EXPECT_EQ(three.encoder.normalise, self);
    EXPECT_EQ(three.decoder.normalise, self);
    EXPECT_EQ(three.source.normalise, name);
  }
}

TEST(Scores, AreEverywhereButForThoseOfOneSequence) {
  for (const attend::Entry* entry : attend::all()) {
    if (entry->part != attend::Part::score) continue;
    const std::string name = entry->name;
    const Three three(with(name));
    const bool synthesizer = name.starts_with("synthesizer"), intra = name == "intra";
    EXPECT_EQ(three.encoder.score, intra ? "general" : name);
    EXPECT_EQ(three.decoder.score, name);
    EXPECT_EQ(three.source.score, intra ? "general" : synthesizer ? "scaled_dot" : name);
    EXPECT_EQ(three.decoder.strict, intra);
    EXPECT_EQ(three.encoder.region, "global");
  }
  StackOptions word{.width = 8};
  word.attention.score = "concat";  // another name of additive
  EXPECT_EQ(Three(word).source.score, "additive");
}

/// |i - j|: a token of an encoder is as far from what comes as from what was. Turned around, the sentence gives the
/// memory turned around.
TEST(Alibi, IsSymmetricInAnEncoder) {
  model::Options o = model::test::small("transformer");
  o.positions = "alibi";
  const model::test::Made made(o);
  const std::vector<int32_t> forward = {3, 7, 4, 9, 10}, backward(forward.rbegin(), forward.rend());
  Tape tape(model::test::kQuiet);
  const Tensor a = made.model.encode(tape, data::Sources::of(forward)).memory.rows;
  const Tensor b = made.model.encode(tape, data::Sources::of(backward)).memory.rows;
  for (int64_t r = 0; r < 5; ++r)
    for (int64_t c = 0; c < a.cols(); ++c) EXPECT_NEAR(a.row(r)[c], b.row(4 - r)[c], 1e-5);
  o.positions = "none";  // without it, no token knows its place, with it they do
  const model::test::Made blind(o);
  const Tensor without = blind.model.encode(tape, data::Sources::of(forward)).memory.rows;
  double most = 0.0;
  for (int64_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a.data()[i] - without.data()[i])));
  EXPECT_GT(most, 1e-3);
}

TEST(States, AskInTheWidthTheyHave) {
  const auto asked = [](const attend::Options& o, int64_t memory) {
    return source_attention(Chosen{o, {}}, 8, memory);
  };
  attend::Options dot;
  EXPECT_FALSE(asked(dot, 8).project);
  EXPECT_TRUE(asked(dot, 16).project);
  EXPECT_EQ(asked(dot, 16).width, 8);
  attend::Options additive;
  additive.score = "additive";
  EXPECT_FALSE(asked(additive, 16).project);
  attend::Options heads;
  heads.structure = "multi_head";
  EXPECT_EQ(asked(heads, 16).heads, 4);
  EXPECT_TRUE(asked(heads, 16).project_output);
  // What was said stays.
  EXPECT_THROW(source_attention(Chosen{dot, {"project"}}, 8, 16), Error);
  EXPECT_FALSE(source_attention(Chosen{heads, {"project"}}, 8, 8).project);
}

/// What is named for one place holds there alone, and as it was named.
TEST(Places, AreChosenOneByOne) {
  StackOptions t = with("softmax");
  const auto at = [&](const char* place, std::set<std::string> keys) -> attend::Options& {
    t.places[place].keys.merge(keys);
    return t.places[place].to;
  };
  at("source", {"region", "position"}).region = "local_m";
  t.places["source"].to.position = "relative";
  at("decoder", {"strict"}).strict = true;
  at("encoder", {"score", "heads"}).score = "synthesizer_random";
  t.places["encoder"].to.heads = 4;
  at("encoder.layer.1", {"score"}).score = "additive";
  const Three three(t);
  EXPECT_EQ(three.source.region, "local_m");
  EXPECT_EQ(three.source.position, "relative");
  EXPECT_EQ(three.source.score, "scaled_dot");
  EXPECT_EQ(three.decoder.region, "causal");
  EXPECT_TRUE(three.decoder.strict);
  EXPECT_FALSE(three.encoder.strict);
  EXPECT_EQ(three.encoder.region, "global");
  EXPECT_EQ(three.encoder.score, "synthesizer_random");
  EXPECT_EQ(three.encoder.heads, 4);
  EXPECT_EQ(three.decoder.heads, 2);
  EXPECT_EQ(encoder_self_attention(t, 1).score, "additive");
  EXPECT_EQ(encoder_self_attention(t, 1).heads, 4);
}

TEST(Places, RefuseWhatHasNoMeaningThere) {
  const auto refused = [](const char* place, const char* key, auto change) -> std::string {
    StackOptions t{.width = 8};
    t.places[place].keys.insert(key);
    change(t.places[place].to);
    try {
      encoder_self_attention(t), decoder_self_attention(t), source_attention(t, 8);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto time = [](attend::Options& o) { o.time = "guided"; };
  EXPECT_NE(refused("encoder", "time", time).find("attention.encoder: time = \"guided\""), std::string::npos);
  EXPECT_NE(refused("decoder", "time", time).find("attention.decoder: "), std::string::npos);
  EXPECT_EQ(refused("source", "time", time), "");
  EXPECT_NE(refused("source", "score", [](attend::Options& o) { o.score = "intra"; }).find("own past"),
            std::string::npos);
  EXPECT_NE(refused("decoder", "region", [](attend::Options& o) { o.region = "local_p"; }).find("local_p"),
            std::string::npos);
  EXPECT_NE(refused("encoder", "normalise", [](attend::Options& o) { o.normalise = "hard_sampled"; }).find("reward"),
            std::string::npos);
  EXPECT_NE(refused("source", "structure", [](attend::Options& o) { o.structure = "structured"; }).find("source"),
            std::string::npos);
}

TEST(Projections, AreLeftOutIfThatIsSaid) {
  StackOptions t = with("general");
  t.places[kAllPlaces].keys = {"project"};
  const Three plain(t);
  for (const attend::Options& o : {plain.encoder, plain.decoder}) EXPECT_TRUE(!o.project && !o.project_output);
  EXPECT_TRUE(plain.source.project_output) << "contexts of 6 columns do not fit rows of 8";
  t.places[kAllPlaces].keys = {"project_output"};
  const Three heads(t);
  for (const attend::Options& o : {heads.encoder, heads.decoder, heads.source})
    EXPECT_TRUE(o.project && !o.project_output);
}

}  // namespace
}  // namespace heed::encode
