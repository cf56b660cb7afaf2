#include "heed/layer/parameters.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/layer/linear.h"
#include "tests/layer/check_layer.h"

namespace heed::test {
namespace {

TEST(Parameters, NamesFollowScopes) {
  Parameters all(1);
  const Scope root(all);
  root.make("top", {3}, Initialiser::constant(2.0f));
  const Scope encoder = root / "encoder" / "0";
  encoder.make("weight", {2, 5}, Initialiser::xavier());
  EXPECT_EQ(encoder.prefix(), "encoder.0");
  EXPECT_EQ(names(all), (std::vector<std::string>{"top", "encoder.0.weight"}));
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(all.count(), 13);
  EXPECT_EQ(all.at("top").value, std::vector<float>(3, 2.0f));
  EXPECT_EQ(all.at("encoder.0.weight").rows(), 2);
  EXPECT_EQ(all.at("encoder.0.weight").cols(), 5);
  EXPECT_EQ(all.find("encoder"), nullptr);
}

TEST(Parameters, AddressesStay) {
  Parameters all;
  Parameter* first = &all.make("first", {4}, Initialiser::normal(1.0f));
  const float* value = first->value.data();
  for (int i = 0; i < 1000; ++i) all.make(fmt::format("p{}", i), {1}, Initialiser::constant(0.0f));
  EXPECT_EQ(&all.at("first"), first);
  EXPECT_EQ(first->value.data(), value);
}

TEST(Parameters, MissingNameSaysTheNearest) {
  Parameters all;
  expect_error([&] { all.at("x"); }, "there is no parameter 'x': there are no parameters");
  for (const char* name : {"encoder.0.query.weight", "encoder.0.query.bias", "decoder.0.query.weight"})
    all.make(name, {1}, Initialiser::constant(0.0f));
  for (const auto& [asked, nearest] : {std::pair("encoder.0.qeury.weight", "encoder.0.query.weight"),
                                       std::pair("encoder.0.query.bia", "encoder.0.query.bias"),
                                       std::pair("decoder.0.query.weigh", "decoder.0.query.weight")})
    expect_error([&, name = asked] { all.at(name); },
                 fmt::format("there is no parameter '{}'; did you mean '{}'?", asked, nearest));
}

TEST(Parameters, RefusesWhatCannotBe) {
  Parameters all;
  all.make("w", {2, 3}, Initialiser::xavier());
  const auto expect_refused = [&](const char* name, const std::vector<int64_t>& shape, const std::string& message) {
    expect_error([&] { all.make(name, shape, Initialiser::xavier()); }, message);
  };
  expect_refused("w", {4},
                 "parameter 'w' of shape [4] already exists, with shape [2, 3]; give each layer its own scope");
  expect_refused("", {4}, "parameters: a parameter of shape [4] needs a name");
  expect_refused("v", {}, "parameter 'v': the shape must be [n] or [rows, cols], not []");
  expect_refused("v", {1, 2, 3}, "parameter 'v': the shape must be [n] or [rows, cols], not [1, 2, 3]");
  expect_refused("v", {2, -1}, "parameter 'v': the shape [2, -1] has a negative dimension");
  EXPECT_EQ(all.size(), 1u) << "a refused parameter must leave nothing behind";
}

TEST(Parameters, ValuesComeFromSeedAndNameAlone) {
  Parameters one(7), two(7), other(8);
  one.make("a", {5, 6}, Initialiser::normal(1.0f));
  one.make("b", {5, 6}, Initialiser::normal(1.0f));
  two.make("b", {5, 6}, Initialiser::normal(1.0f));
  two.make("extra", {2}, Initialiser::normal(1.0f));
  two.make("a", {5, 6}, Initialiser::normal(1.0f));
  other.make("a", {5, 6}, Initialiser::normal(1.0f));
  EXPECT_EQ(one.at("a").value, two.at("a").value);
  EXPECT_EQ(one.at("b").value, two.at("b").value);
  EXPECT_NE(one.at("a").value, one.at("b").value);
  EXPECT_NE(one.at("a").value, other.at("a").value);
}

TEST(Parameters, ThoseThatAreLoadedNextAreNotDrawn) {
  Parameters drawn(3), empty(3, Start::empty);
  for (Parameters* all : {&drawn, &empty}) all->make("weight", {2, 3}, Initialiser::normal(1.0f));
  EXPECT_NE(drawn.at("weight").value, std::vector<float>(6, 0.0f));
  EXPECT_TRUE(empty.at("weight").value.empty());
  EXPECT_EQ(empty.at("weight").size(), 6);
  empty.make("large", {int64_t{1} << 30, int64_t{1} << 20}, Initialiser::normal(1.0f));  // 4 petabytes, if it had any
}

TEST(Parameters, DrawnLaterTheyAreTheSame) {
  Parameters drawn(3), later(3, Start::empty);
  for (Parameters* all : {&drawn, &later}) {
    all->make("a", {2, 3}, Initialiser::normal(1.0f));
    all->make("b", {4}, Initialiser::uniform(0.5f));
  }
  later.at("b").value = std::vector<float>(4, 7.0f);  // what is there stays
  later.draw();
  EXPECT_EQ(later.at("a").value, drawn.at("a").value);
  EXPECT_EQ(later.at("b").value, std::vector<float>(4, 7.0f));
  later.draw();
  EXPECT_EQ(later.make("c", {3}, Initialiser::constant(2.0f)).value, std::vector<float>(3, 2.0f));
}

TEST(Parameters, ForgettingGradients) {
  Parameters all;
  Linear layer(all, 2, 3);
  for (Parameter& p : all) p.has_gradient = true;
  all.forget_gradients();
  for (const Parameter& p : all) EXPECT_FALSE(p.has_gradient) << p.name;
}

}  // namespace
}  // namespace heed::test
