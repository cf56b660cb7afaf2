// Values made by another program (tests/golden/make_mechanisms.py: PyTorch in double, gradients by its autograd and
// checked there against central differences): every mechanism with its options, all parameters, all gradients.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/attend/all.h"
#include "heed/layer/parameters.h"
#include "heed/tensor/tape.h"

#ifndef HEED_TEST_DATA
#define HEED_TEST_DATA "tests/attend"
#endif

namespace heed::attend {
namespace {

using Json = nlohmann::json;

const Json& golden() {
  static const Json json = Json::parse(std::ifstream(HEED_TEST_DATA "/../golden/mechanisms.json"));
  return json;
}

Options read_options(const Json& json) {
  Options options;
  size_t known = 0;
  each_option(options, [&](const char* name, auto& field) {
    if (!json.contains(name)) return;
    field = json.at(name).get<std::decay_t<decltype(field)>>();
    ++known;
  });
  EXPECT_EQ(known, json.size()) << "an option of the golden values is unknown: " << json;
  return options;
}

// ---------------------------------------------------------------------------------------------------------- comparing

/// How far a number may be from the truth, relative to the largest of its tensor. The formulas in float32, as PyTorch
/// runs them, need less than half of this (make_mechanisms.py prints it and refuses more): a handful of
/// roundings of 6e-8 in sums of some dozen terms. A wrong term, sign or index is off by far more.
constexpr double kTolerance = 5e-6;
/// Where a gradient cancels, as that of a bias under softmax, what remains is the rounding of its terms. They are about
/// as large as the other numbers of the case, of which this part counts.
constexpr double kOfTheCase = 0.1;

double largest(const Json& values) {
  double most = 0.0;
  for (const Json& value : values) most = std::max(most, std::abs(value.get<double>()));
  return most;
}

class Comparison {
 public:
  explicit Comparison(const Json& expected) : expected_(expected) {
    for (const Json& tensor : expected) scale_ = std::max(scale_, largest(tensor.at("values")));
  }

  bool has(const std::string& name) const { return expected_.contains(name); }

  /// `got` null: nothing arrived there, as good as zeros.
  void compare(const std::string& name, const std::vector<int64_t>& shape, const float* got) const {
    ASSERT_TRUE(has(name)) << name;
    const Json& truth = expected_.at(name).at("values");
    ASSERT_EQ(shape, expected_.at(name).at("shape").get<std::vector<int64_t>>()) << name;
    const double allowed = kTolerance * std::max(largest(truth), kOfTheCase * scale_);
    size_t wrong = 0, worst = 0;
    double most = 0.0;
    for (size_t n = 0; n < truth.size(); ++n) {
      const double error = std::abs((got ? got[n] : 0.0) - truth[n].get<double>());
      if (error <= allowed) continue;  // NaN is not
      if (++wrong == 1 || error > most) most = error, worst = n;
    }
    EXPECT_EQ(wrong, 0u) << name << ": " << wrong << " of " << truth.size() << " differ, most of all [" << worst
                         << "] = " << (got ? got[worst] : 0.0f) << ", truth " << truth[worst] << ", error " << most
                         << ", allowed " << allowed;
  }
  void compare(const std::string& name, Tensor got) const {
    ASSERT_TRUE(got) << name << " was not given";
    compare(name, {got.rows(), got.cols()}, got.data());
  }
  void compare(const std::string& name, const Weights& got) const {
    ASSERT_NE(got.data, nullptr) << name << " were not given";
    compare(name, {got.batch, got.heads, got.queries, got.keys}, got.data);
  }

 private:
  const Json& expected_;
  double scale_ = 0.0;
};

// ------------------------------------------------------------------------------------------------------------ running

/// A case on a tape: what comes in and what the mechanism makes of it.
class OnTape {
 public:
  explicit OnTape(const Json& json)
      : json_(json),
        options_(read_options(json.at("options"))),
        mechanism_(make(Scope(parameters_), options_)),
        tape_({.recording = true, .training = json.value("training", true), .seed = 7}) {}

  /// Names and shapes must be the golden ones, none more, none less. Then takes over their numbers.
  void set_parameters(const Json& given) {
    std::set<std::string> names, expected;
    for (const auto& [name, tensor] : given.items()) expected.insert(name);
    for (Parameter& parameter : parameters_) {
      names.insert(parameter.name);
      if (!given.contains(parameter.name)) continue;
      EXPECT_EQ(parameter.shape, given.at(parameter.name).at("shape").get<std::vector<int64_t>>()) << parameter.name;
      parameter.value = given.at(parameter.name).at("values").get<std::vector<float>>();
    }
    ASSERT_EQ(names, expected);
    ASSERT_FALSE(testing::Test::HasFailure());
  }

  void attend(const Request& request) {
    const PreparedMemory prepared = mechanism_->prepare(memory());
    State state;
    state.set_step(json_.value("step", 0));
    attended = mechanism_->attend(queries(), prepared, state, request);
    EXPECT_EQ(attended.context.cols(), mechanism_->context_width());
  }

  void backward(const Json& cotangents) {
    const auto seed = [&](const char* name, Tensor at) {
      if (!cotangents.contains(name)) return;
      ASSERT_TRUE(at) << name;
      const std::vector<float>& d = keep(cotangents.at(name).get<std::vector<float>>());
      ASSERT_EQ(static_cast<int64_t>(d.size()), at.size()) << name;
      tape_.seed_gradient(at, d.data());
    };
    seed("context", attended.context);
    seed("log_prob", attended.log_prob);
    seed("entropy", attended.entropy);
    seed("guide_cost", attended.guide_cost);
    seed("penalty", attended.penalty);
    tape_.run();
  }

  Tensor input(const std::string& name) {
    auto [at, is_new] = inputs_.try_emplace(name);
    if (is_new && json_.at("inputs").contains(name)) {
      const Json& given = json_.at("inputs").at(name);
      const std::vector<float>& values = keep(given.at("values").get<std::vector<float>>());
      at->second = tape_.input(values.data(), given.at("shape")[0], given.at("shape")[1], true);
    }
    return at->second;
  }

  Parameters& parameters() { return parameters_; }

  Attended attended;

 private:
  Memory memory() {
    Memory memory;
    memory.rows = {input("keys"), offsets("key_offsets")};
    memory.values = input("values");
    memory.documents = integers<int32_t>("key_documents");
    memory.lengths = integers<int32_t>("lengths");
    memory.sentences = offsets("sentences");
    return memory;
  }

  Queries queries() {
    Queries queries;
    if (!json_.contains("query_offsets")) return queries;
    queries.rows = {input(json_.value("same_rows", false) ? "keys" : "queries"), offsets("query_offsets")};
    queries.documents = integers<int32_t>("query_documents");
    queries.mask = integers<uint8_t>("mask");
    if (queries.mask) queries.mask_keys = static_cast<int64_t>(json_.at("mask").size()) / queries.rows.rows.rows();
    queries.bias = input("bias");
    return queries;
  }

  Offsets offsets(const char* name) {
    return json_.contains(name) ? tape_.offsets(json_.at(name).get<std::vector<int64_t>>()) : Offsets();
  }

  template <class T>
  const T* integers(const char* name) {
    if (!json_.contains(name)) return nullptr;
    const std::vector<T> values = json_.at(name).get<std::vector<T>>();
    return tape_.keep<T>(std::span<const T>(values));
  }

  const std::vector<float>& keep(std::vector<float> values) { return kept_.emplace_back(std::move(values)); }

  const Json& json_;
  Parameters parameters_;
  Options options_;
  std::unique_ptr<Mechanism> mechanism_;
  std::deque<std::vector<float>> kept_;  // what the tape points to
  std::map<std::string, Tensor> inputs_;
  Tape tape_;
};

// -------------------------------------------------------------------------------------------------------------- tests

class Golden : public testing::TestWithParam<size_t> {
 protected:
  const Json& json() const { return golden().at("cases")[GetParam()]; }
};

TEST_P(Golden, ContextWeightsAndGradients) {
  SCOPED_TRACE(json().at("name").get<std::string>());
  const Comparison truth(json().at("expected"));
  OnTape run(json());
  ASSERT_NO_FATAL_FAILURE(run.set_parameters(json().at("parameters")));

  Request request;
  request.weights = true;
  request.entropy = truth.has("entropy");
  request.guide_cost = truth.has("guide_cost");
  request.penalty = truth.has("penalty");
  run.attend(request);
  truth.compare("context", run.attended.context);
  truth.compare("weights", run.attended.weights);
  if (truth.has("inner_weights")) truth.compare("inner_weights", run.attended.inner_weights);
  if (request.entropy) truth.compare("entropy", run.attended.entropy);
  if (request.guide_cost) truth.compare("guide_cost", run.attended.guide_cost);
  if (request.penalty) truth.compare("penalty", run.attended.penalty);

  ASSERT_NO_FATAL_FAILURE(run.backward(json().at("cotangents")));
  for (const auto& [name, given] : json().at("inputs").items()) {
    const Tensor input = run.input(name);
    if (truth.has("d_inputs." + name))
      truth.compare("d_inputs." + name, {input.rows(), input.cols()}, input.gradient());
  }
  const std::set<std::string> fixed = json().at("fixed").get<std::set<std::string>>();
  for (const Parameter& parameter : run.parameters()) {
    EXPECT_EQ(parameter.trainable, !fixed.contains(parameter.name)) << parameter.name;
    EXPECT_TRUE(parameter.trainable || !parameter.has_gradient) << parameter.name;
    if (truth.has("d_parameters." + parameter.name))
      truth.compare("d_parameters." + parameter.name, parameter.shape,
                    parameter.has_gradient ? parameter.gradient.data() : nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Golden, testing::Range<size_t>(0, golden().at("cases").size()),
                         [](const testing::TestParamInfo<size_t>& info) {
                           std::string name = golden().at("cases")[info.param].at("name");
                           for (char& letter : name)
                             if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
                           return name;
                         });

/// While training the keys are drawn, so what was drawn is found out first: it is written down for each key that could
/// have been. All the rest follows from that.
TEST(GoldenSampled, LogProbAndItsGradient) {
  const Json& json = golden().at("sampled");
  OnTape run(json);
  run.attend({});
  const Tensor log_prob = run.attended.log_prob, context = run.attended.context;
  const int64_t samples = json.at("options").at("samples");
  ASSERT_TRUE(log_prob);
  ASSERT_EQ(log_prob.rows(), samples);
  ASSERT_EQ(log_prob.cols(), static_cast<int64_t>(json.at("rows").size()));
  const std::vector<double> d_context = json.at("cotangents").at("context"),
                            d_log_prob = json.at("cotangents").at("log_prob");
  const Tensor q = run.input("queries"), k = run.input("keys"), v = run.input("values");
  std::vector<double> d_q(q.size()), d_k(k.size()), d_v(v.size());
  std::set<int64_t> drawn;
  for (int64_t i = 0; i < q.rows(); ++i) {
    const Json& row = json.at("rows")[i];
    const int64_t first = json.at("key_offsets")[row.at("sequence").get<size_t>()];
    std::vector<double> mean(v.cols());
    for (int64_t s = 0; s < samples; ++s) {
      const auto error = [&](size_t j) {
        return std::abs(row.at("keys")[j].at("log_prob").get<double>() - log_prob.row(s)[i]);
      };
      size_t choice = 0;
      for (size_t j = 1; j < row.at("keys").size(); ++j)
        if (error(j) < error(choice)) choice = j;
      EXPECT_LE(error(choice), kTolerance) << "query " << i << ", sample " << s;
      const int64_t key = first + static_cast<int64_t>(choice);
      drawn.insert(key);
      const Json& chosen = row.at("keys")[choice];
      const double d = d_log_prob[s * q.rows() + i];
      for (int64_t c = 0; c < q.cols(); ++c) d_q[i * q.cols() + c] += d * chosen.at("d_query")[c].get<double>();
      for (size_t n = 0; n < chosen.at("d_keys").size(); ++n)
        d_k[first * k.cols() + n] += d * chosen.at("d_keys")[n].get<double>();
      for (int64_t c = 0; c < v.cols(); ++c) {
        mean[c] += v.row(key)[c] / static_cast<double>(samples);
        d_v[key * v.cols() + c] += d_context[i * v.cols() + c] / static_cast<double>(samples);
      }
    }
    for (int64_t c = 0; c < v.cols(); ++c) EXPECT_NEAR(context.row(i)[c], mean[c], kTolerance) << "query " << i;
  }
  EXPECT_GT(drawn.size(), 2u) << "drawn from the softmax, not always the same key";

  ASSERT_NO_FATAL_FAILURE(run.backward(json.at("cotangents")));
  const auto compare = [](const char* name, Tensor got, const std::vector<double>& truth) {
    ASSERT_NE(got.gradient(), nullptr) << name;
    for (size_t n = 0; n < truth.size(); ++n) EXPECT_NEAR(got.gradient()[n], truth[n], kTolerance) << name << " " << n;
  };
  compare("queries", q, d_q);
  compare("keys", k, d_k);
  compare("values", v, d_v);
}

/// The words that a case's options say.
std::set<std::string> words_of(const Options& options) {
  std::set<std::string> words = {options.structure, options.input, options.score, options.normalise, options.time};
  std::istringstream regions(options.region);
  for (std::string region; std::getline(regions, region, '+');) words.insert(region);
  words.insert(options.value_width == 0 ? "plain_mode" : "key_value_mode");
  return words;
}

TEST(GoldenCases, EveryMechanismAppears) {
  std::set<std::string> seen;
  for (const Json& json : golden().at("cases")) seen.merge(words_of(read_options(json.at("options"))));
  for (const Entry* entry : all()) EXPECT_TRUE(seen.contains(entry->name)) << "no golden case has " << entry->name;
}

}  // namespace
}  // namespace heed::attend
