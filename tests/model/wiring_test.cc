// Which outputs of the encoder a decoder attends to.
#include <algorithm>

#include "heed/base/error.h"
#include "heed/task/image/picture_model.h"
#include "tests/model/small.h"

namespace heed::model::test {
namespace {

Options wired(const std::string& wiring, const std::string& kind = "transformer") {
  Options o = small(kind);
  o.encoder_layers = 3;
  o.decoder_layers = 3;
  o.wiring = wiring;
  return o;
}

template <class Model = Seq2Seq>
void expect_refused(const Options& options, const std::vector<std::string>& says) {
  Parameters parameters;
  try {
    const Model model(parameters, options);
    FAIL() << "was not refused";
  } catch (const Error& error) {
    for (const std::string& part : says)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

/// The weights of `from`, by name, as far as the other model has them.
void take_weights(const Parameters& from, Parameters& to) {
  for (Parameter& p : to)
    if (const Parameter* same = from.find(p.name)) p.value = same->value;
}

TEST(Wiring, TheDefaultIsTheLastOutputAndHasNoParametersOfItsOwn) {
  EXPECT_EQ(Options().wiring, "last");
  const Made last(wired("last")), same(wired("same_block")), mix(wired("mix"));
  EXPECT_EQ(same.parameters.size(), last.parameters.size());
  EXPECT_EQ(mix.parameters.size(), last.parameters.size() + 3);
  for (const char* name : {"decoder.0.mix", "decoder.1.mix", "decoder.2.mix"}) {
    ASSERT_TRUE(mix.parameters.find(name)) << name;
    EXPECT_EQ(mix.parameters.find(name)->shape, (std::vector<int64_t>{1, 3}));
  }
}

/// With all of its weight on the last block, or on block i, a mix is one of the other two.
TEST(Wiring, AMixHoldsTheOthers) {
  const Batch batch(ragged());
  for (const char* norm : {"post", "pre"})
    for (const char* wiring : {"last", "same_block"}) {
      SCOPED_TRACE(std::string(norm) + " " + wiring);
      Options plain = wired(wiring), mixed = wired("mix");
      plain.norm = mixed.norm = norm;
      const Made other(plain);
      Made mix(mixed);
      take_weights(other.parameters, mix.parameters);
      for (size_t i = 0; i < 3; ++i) {
        Parameter& weights = mix.parameters.at("decoder." + std::to_string(i) + ".mix");
        weights.value = {-100, -100, -100};
        weights.value[plain.wiring == "last" ? 2 : i] = 100;
      }
      expect_near(at_once(mix.model, batch), at_once(other.model, batch), 1e-6);
      expect_near(by_steps(mix.model, batch), by_steps(other.model, batch), 1e-6);
    }
}

/// What each block of the decoder sees differs, or the test above would say nothing.
TEST(Wiring, TheThreeDiffer) {
  const Batch batch(ragged());
  const Made last(wired("last"));
  const LogProbs of_last = at_once(last.model, batch);
  for (const char* wiring : {"same_block", "mix"}) {
    Made other(wired(wiring));
    take_weights(last.parameters, other.parameters);
    const LogProbs got = at_once(other.model, batch);
    double most = 0;
    for (size_t r = 0; r < got.size(); ++r)
      for (size_t v = 0; v < got[r].size(); ++v) most = std::max(most, std::abs(got[r][v] - of_last[r][v]));
    EXPECT_GT(most, 1e-3) << wiring;
  }
}

TEST(Wiring, ARecurrentDecoderMixesForItsOneAttention) {
  const Made mix(wired("mix", "rnn"));
  ASSERT_TRUE(mix.parameters.find("decoder.attention.0.mix"));
  EXPECT_EQ(mix.parameters.find("decoder.attention.0.mix")->shape, (std::vector<int64_t>{1, 3}));
  expect_refused(wired("same_block", "rnn"), {"same_block", "an rnn attends once", "last or mix"});
}

TEST(Wiring, BlocksThatDoNotFitAreRefusedWithBothNumbers) {
  Options o = wired("same_block");
  o.encoder_layers = 2;
  expect_refused(o, {"same_block", "not 2 and 3", "mix and last take any"});
  o = wired("mix");
  o.questions = false;
  o.picture_size = 8;
  expect_refused<task::PictureModel>(o, {"wiring must be last: this encoder has one output"});
  expect_refused(wired("parallel"), {"model: wiring must be one of last, same_block, mix, not 'parallel'"});
}

}  // namespace
}  // namespace heed::model::test
