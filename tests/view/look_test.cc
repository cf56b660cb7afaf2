// What a model attended to: every kind of model, every mechanism, the numbers that prediction has.
#include "heed/view/look.h"

#include <cmath>

#include <gtest/gtest.h>

#include "heed/attend/all.h"
#include "heed/attend/watch.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/model/search/search_tree.h"
#include "heed/text/tokeniser.h"
#include "heed/train/recipe/recipe.h"
#include "tests/base/folder.h"

namespace heed::view {
namespace {

/// Random weights that prefer something.
void make_up_its_mind(trained::TrainedModel& trained, uint64_t seed) {
  for (Parameter& p : *trained.parameters)
    for (float& value : p.value) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      value += static_cast<float>(seed >> 40) / static_cast<float>(1 << 24) - 0.5f;
    }
}

/// Of the letters of the alphabet.
predict::Predictor model_of(const std::string& toml, const std::vector<std::string_view>& labels = {}) {
  recipe::Recipe recipe = recipe::parse(toml, "small.toml");
  recipe.open.clear();
  const std::string_view letters[] = {"abcdefghijklmnopqrstuvwxyz . "};
  const bool words = recipe.data.source.kind == "unicode_words";
  const std::string_view word_list[] = {"good bad plot was it the . !"};
  const auto source =
      text::Tokeniser::train(words ? word_list : letters, {.kind = words ? "unicode_words" : "characters"});
  const auto target =
      labels.empty() ? text::Tokeniser::train(letters, {}) : text::Tokeniser::train(labels, {.kind = "lines"});
  trained::TrainedModel trained = trained::make_model(recipe::describe(recipe), {source, target}, recipe.train.seed);
  make_up_its_mind(trained, 1);
  // Outputs that can be read again: text, and not nothing.
  if (labels.empty())
    for (const int32_t id : {text::kUnknown, text::kStart, text::kEnd})
      trained.parameters->at("output.bias").value[static_cast<size_t>(id)] -= id == text::kEnd ? 2.0f : 50.0f;
  return predict::Predictor(std::move(trained));
}

std::string pairs(const std::string& model, const std::string& attention) {
  return "[data]\ntask = \"reverse\"\n[model]\nwidth = 8\n" + model + "\n[attention]\n" + attention +
         "\n[stop]\nsteps = 1\n[validate]\nlongest = 12\n[output]\nfolder = \"nowhere\"\n";
}

void expect_whole(const Example& example) {
  for (const Map& map : example.maps) {
    SCOPED_TRACE(map.name);
    EXPECT_EQ(std::ssize(example.sequence(map.queries).tokens), map.rows);
    EXPECT_EQ(std::ssize(example.sequence(map.keys).tokens), map.columns);
    ASSERT_EQ(std::ssize(map.weights), map.heads * map.rows * map.columns);
  }
}

void expect_rows_sum_to_one(const Map& map) {
  for (int64_t h = 0; h < map.heads; ++h)
    for (int64_t r = 0; r < map.rows; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < map.columns; ++c) sum += map.at(h, r, c);
      EXPECT_NEAR(sum, 1.0, 1e-5) << map.name << " head " << h << " row " << r;
    }
}

/// The weights of the search, step by step, are those of the one pass that is looked at.
void expect_as_predicted(const predict::Predictor& model, const std::string& line, double tolerance) {
  const Example example = look(model, line);
  expect_whole(example);
  const Map* map = example.main_map();
  ASSERT_NE(map, nullptr);
  const predict::Prediction prediction = model.predict(line, {.alignments = true});
  const std::vector<std::vector<float>>& alignment = prediction.nbest.front().alignment;
  const std::vector<float> mean = map->of_head(-1);
  ASSERT_LE(std::ssize(alignment), map->rows);
  ASSERT_GE(std::ssize(alignment), 1);
  for (size_t r = 0; r < alignment.size(); ++r)
    for (size_t c = 0; c < alignment[r].size(); ++c)
      EXPECT_NEAR(mean[r * static_cast<size_t>(map->columns) + c], alignment[r][c], tolerance) << r << ", " << c;
}

TEST(Look, TransformerHasAllItsAttentions) {
  const predict::Predictor model = model_of(
      pairs("kind = \"transformer\"\nencoder_layers = 2\ndecoder_layers = 2", "score = \"scaled_dot\"\nheads = 2"));
  const Example example = look(model, "hello");
  std::vector<std::string> names;
  for (const Map& map : example.maps) names.push_back(map.name);
  EXPECT_EQ(names, (std::vector<std::string>{"encoder.0.self", "encoder.1.self", "decoder.0.self", "decoder.0.source",
                                             "decoder.1.self", "decoder.1.source"}));
  expect_whole(example);
  for (const Map& map : example.maps) {
    EXPECT_EQ(map.heads, 2);
    expect_rows_sum_to_one(map);
  }
  EXPECT_EQ(example.maps[3].group, "attention to the source");
  EXPECT_EQ(example.maps[3].label, "attention to the source, layer 1");
  // A decoder does not look ahead.
  const Map& own = example.maps[2];
  for (int64_t r = 0; r < own.rows; ++r)
    for (int64_t c = r + 1; c < own.columns; ++c) EXPECT_EQ(own.at(0, r, c), 0.0f);
  EXPECT_EQ(example.sequence("source").tokens, (std::vector<std::string>{"h", "e", "l", "l", "o"}));
  EXPECT_EQ(example.sequence("target_in").tokens.front(), "<s>");
  EXPECT_EQ(example.sequence("target").tokens.back(), "</s>");
  EXPECT_EQ(example.main_map(), &example.maps.back());
  expect_as_predicted(model, "hello", 1e-6);
}

TEST(Look, AGivenTargetIsLookedAt) {
  const predict::Predictor model = model_of(pairs("kind = \"rnn\"", "score = \"additive\""));
  const Example example = look(model, "hello", "oh");
  EXPECT_EQ(example.output, "oh");
  EXPECT_EQ(example.sequence("target").tokens, (std::vector<std::string>{"o", "h", "</s>"}));
  const predict::TextPair pair[] = {{"hello", "oh"}};
  EXPECT_EQ(example.log_probability, model.score_all(pair).front().log_probability);
}

/// Any mechanism that a decoder can have to its source.
TEST(Look, EveryMechanism) {
  int looked = 0;
  for (const attend::Entry* entry : attend::all()) {
    SCOPED_TRACE(entry->name);
    attend::Options o;
    std::string attention;
    try {
      o = attend::options_of(entry->name, {.score = "additive"});
    } catch (const Error&) {
      continue;
    }
    if (o.structure != "single" && o.structure != "multi_head") continue;
    attention = "score = \"" + o.score + "\"\nnormalise = \"" + o.normalise + "\"\ntime = \"" + o.time +
                "\"\nregion = \"" + o.region + "\"\nstructure = \"" + o.structure + "\"\nmax_length = 16";
    std::optional<predict::Predictor> model;
    try {
      model.emplace(model_of(pairs("kind = \"rnn\"", attention)));
    } catch (const Error&) {
      continue;  // refused as the attention to a source: the catalogue tests know which
    }
    ++looked;
    expect_as_predicted(*model, "abcdef", 1e-5);
  }
  EXPECT_GE(looked, 25);
}

TEST(Look, InputFeedingGoesStepByStep) {
  const predict::Predictor model = model_of(pairs("kind = \"rnn\"\ninput_feeding = true", "score = \"dot\""));
  const Example example = look(model, "abcd");
  ASSERT_EQ(example.maps.size(), 1u);
  expect_whole(example);
  expect_as_predicted(model, "abcd", 1e-6);
}

constexpr const char* kLabels = R"(
[data]
tsv = "none.tsv"
text_column = 1
label_column = 2
[model]
task = "classification"
width = 8
[stop]
steps = 1
[output]
folder = "nowhere"
[attention]
)";

TEST(Look, WordsAndSentences) {
  const predict::Predictor model = model_of(std::string(kLabels) + "structure = \"hierarchical\"\n", {"good", "bad"});
  const Example example = look(model, "It was good. The plot was bad!");
  expect_whole(example);
  const Map *words = example.find("word.pool"), *sentences = example.find("sentence.pool");
  ASSERT_TRUE(words && sentences);
  expect_rows_sum_to_one(*words);
  expect_rows_sum_to_one(*sentences);
  ASSERT_EQ(example.sentences.size(), 2u);
  EXPECT_EQ(words->rows, 2);
  double all = 0;
  for (const Sentence& sentence : example.sentences) all += sentence.weight;
  EXPECT_NEAR(all, 1.0, 1e-5);
  EXPECT_EQ(example.sentences[0].words.front().text, "it");
  // What prediction says: the weight of a word is that in its sentence times that of the sentence.
  const predict::Prediction p = model.predict("It was good. The plot was bad!", {.alignments = true});
  EXPECT_NEAR(p.nbest.front().alignment[0][0], example.sentences[0].weight * example.sentences[0].words[0].weight,
              1e-6);
}

TEST(Look, RowsOfAStructuredText) {
  const predict::Predictor model =
      model_of(std::string(kLabels) + "structure = \"structured\"\nqueries = 3\n", {"good", "bad"});
  const Example example = look(model, "it was good");
  expect_whole(example);
  ASSERT_EQ(example.maps.size(), 1u);
  EXPECT_EQ(example.maps[0].rows, 3);
  EXPECT_EQ(example.maps[0].columns, 3);
  expect_rows_sum_to_one(example.maps[0]);
}

std::string text_model(const std::string& model, const std::string& attention) {
  return "[data]\ntext = \"none.txt\"\n[model]\ntask = \"language_model\"\nwidth = 8\ncontext = 32\n" + model +
         "\n[attention]\n" + attention +
         "\n[stop]\nsteps = 1\n[validate]\nlongest = 6\n[output]\nfolder = \"nowhere\"\n";
}

TEST(Look, WhatATextLooksBackAt) {
  for (const auto& [model, attention] :
       {std::pair("kind = \"transformer\"\nlayers = 2", "score = \"scaled_dot\"\nheads = 2"),
        std::pair("kind = \"rnn\"", "structure = \"key_value\"\nwindow = 3")}) {
    SCOPED_TRACE(model);
    const Example example = look(model_of(text_model(model, attention)), "hello");
    ASSERT_FALSE(example.maps.empty());
    expect_whole(example);
    const Map& map = example.maps.front();
    EXPECT_EQ(map.queries, "text");
    EXPECT_EQ(example.sequence("text").tokens[1], "h");
    for (int64_t r = 0; r < map.rows; ++r)
      for (int64_t c = r + 1; c < map.columns; ++c) EXPECT_EQ(map.at(0, r, c), 0.0f);
  }
}

/// Text and output together are longer than the context, and than a stretch that an RNN reads at once.
TEST(Look, ATextThatIsReadInParts) {
  for (const auto& [model, attention] :
       {std::pair("kind = \"transformer\"\nlayers = 2", "score = \"scaled_dot\"\nheads = 2"),
        std::pair("kind = \"rnn\"", "structure = \"key_value\"\nwindow = 3"),
        std::pair("kind = \"rnn\"", "score = \"additive\"")}) {
    SCOPED_TRACE(model + std::string(" ") + attention);
    const predict::Predictor predictor = model_of(text_model(model, attention));
    const std::string target = "the end of a story that is longer than thirty two letters, and than twice as many";
    const Example example = look(predictor, "it was once upon a time ", target);
    expect_whole(example);
    const Map& map = example.maps.front();
    ASSERT_EQ(map.rows, 25 + std::ssize(target));
    for (int64_t h = 0; h < map.heads; ++h)
      for (int64_t r = 0; r < map.rows; ++r) {
        double sum = 0;
        for (int64_t c = 0; c < map.columns; ++c) {
          sum += map.at(h, r, c);
          if (c > r) {
            EXPECT_EQ(map.at(h, r, c), 0.0f);
          }
        }
        EXPECT_NEAR(sum, r == 0 && map.at(h, 0, 0) == 0.0f ? 0.0 : 1.0, 1e-5) << h << " " << r;
      }
    // What is shown is what is scored.
    EXPECT_EQ(
        example.log_probability,
        predictor.score_all(std::vector<predict::TextPair>{{"it was once upon a time ", target}})[0].log_probability);
  }
}

TEST(Look, AnEndOfALineIsIgnored) {
  const predict::Predictor predictor = model_of(text_model("kind = \"transformer\"", "score = \"scaled_dot\""));
  const Example nothing = look(predictor, ""), end = look(predictor, "\n");
  expect_whole(end);
  EXPECT_EQ(end.log_probability, nothing.log_probability);
  EXPECT_EQ(end.sequence("text").tokens, nothing.sequence("text").tokens);
}

/// SentencePiece may cut the text of an output into other pieces than the search wrote: those that it wrote are shown.
TEST(Look, TheTokensThatTheSearchWrote) {
  std::vector<std::string> sentences;
  for (const char* a : {"hot", "hut", "hat", "tot", "tut"})
    for (const char* b : {"at", "to", "ho", "hot", "oh"}) sentences.push_back(std::string(a) + " " + b + " " + a);
  const std::vector<std::string_view> views(sentences.begin(), sentences.end());
  const auto tokens = text::Tokeniser::train(views, {.kind = "sentencepiece", .size = 24});
  const std::string of_pairs = pairs("kind = \"rnn\"", "score = \"additive\""),
                    of_text = text_model("kind = \"rnn\"", "structure = \"key_value\"\nwindow = 3");
  for (const std::string& toml : {of_pairs, of_text}) {
    size_t differ = 0;
    for (const uint64_t seed : {1, 2, 3, 4}) {
      recipe::Recipe recipe = recipe::parse(toml, "small.toml");
      recipe.open.clear();
      trained::TrainedModel trained =
          trained::make_model(recipe::describe(recipe), {tokens, tokens}, recipe.train.seed);
      make_up_its_mind(trained, seed);
      trained.parameters->at("output.bias").value[text::kEnd] -= 1.0f;
      const predict::Predictor model(std::move(trained));
      for (const std::string& line : {std::string("hot at hot"), std::string("tut oh")}) {
        const predict::Output output = model.predict(line).nbest.front();
        const Example example = look(model, line);
        expect_whole(example);
        std::vector<std::string> written = output.tokens;
        const bool reads = toml == of_pairs;
        if (reads) {
          written.push_back("</s>");
          EXPECT_EQ(example.sequence("target").tokens, written);
        } else {  // after what was read, without the last
          const std::vector<std::string>& text = example.sequence("text").tokens;
          ASSERT_GE(text.size(), written.size());
          EXPECT_TRUE(std::equal(written.rbegin(), written.rend(), text.rbegin()));
        }
        EXPECT_EQ(example.output, output.text);
        EXPECT_TRUE(!output.finished || std::abs(example.log_probability - output.log_probability) < 1e-4);
        differ += model.target().encode(output.text) != output.ids ? 1u : 0u;
      }
    }
    EXPECT_GT(differ, 0u);
  }
  const predict::Predictor model = model_of(of_pairs);
  predict::TextPair pair[] = {{"ab", "", {9999}}};
  expect_part(error_of([&] { model.score_all(pair); }), "target_ids: there is no token 9999");
}

/// The outputs of the search, with the numbers that prediction has.
TEST(Look, TheSearchTree) {
  const predict::Predictor model = model_of(pairs("kind = \"rnn\"", "score = \"additive\""));
  const Example example = look(model, "hello", {}, {.beam = 4, .nbest = 3, .length_penalty = 0.6});
  const predict::Prediction prediction = model.predict("hello", {.beam = 4, .nbest = 3, .length_penalty = 0.6});
  ASSERT_TRUE(example.beam);
  const Beam& beam = *example.beam;
  EXPECT_EQ(beam.keys, "source");
  ASSERT_EQ(beam.weights.size(), beam.nodes.size() * 5);
  EXPECT_EQ(beam.nodes[0].token, "<s>");
  size_t outputs = 0;
  for (size_t i = 0; i < beam.nodes.size(); ++i) {
    double sum = 0;
    for (size_t c = 0; c < 5; ++c) sum += beam.weights[i * 5 + c];
    EXPECT_NEAR(sum, i == 0 ? 0.0 : 1.0, 1e-5);
    const BeamNode& node = beam.nodes[i];
    if (node.rank == 0) continue;
    ++outputs;
    const predict::Output& output = prediction.nbest[static_cast<size_t>(node.rank - 1)];
    EXPECT_EQ(node.finished, output.finished);
    EXPECT_EQ(node.ranked_by, output.score);
    EXPECT_EQ(node.score, output.log_probability);
    std::vector<std::string> tokens;
    for (auto at = static_cast<int64_t>(i); at > 0; at = beam.nodes[static_cast<size_t>(at)].parent)
      if (beam.nodes[static_cast<size_t>(at)].token != "</s>")
        tokens.insert(tokens.begin(), beam.nodes[static_cast<size_t>(at)].token);
    EXPECT_EQ(tokens, output.tokens);
  }
  EXPECT_EQ(outputs, 3u);

  EXPECT_FALSE(look(model, "hello").beam);
  EXPECT_FALSE(look(model, "hello", {}, {.nbest = 2, .sample = true}).beam);
  search::SearchTree tree;
  predict::Options greedy;
  greedy.tree = &tree;
  const Example asked = look(model, "hello", "oh", greedy);  // the tree is that of the search
  ASSERT_TRUE(asked.beam);
  EXPECT_EQ(asked.beam->nodes.size(), tree.nodes.size());
}

TEST(Look, TheSearchTreeOfOtherModels) {
  const Example text = look(model_of(text_model("kind = \"rnn\"", "score = \"dot\"")), "hello", {}, {.beam = 3});
  ASSERT_TRUE(text.beam);
  EXPECT_EQ(text.beam->keys, "");  // it reads no source
  EXPECT_TRUE(text.beam->weights.empty());
  EXPECT_EQ(text.beam->nodes[0].token, "o");  // what the search goes on from
  const predict::Predictor labels = model_of(std::string(kLabels) + "structure = \"hierarchical\"\n", {"good", "bad"});
  EXPECT_FALSE(look(labels, "It was good.", {}, {.nbest = 2}).beam);
}

TEST(Look, LinesThatCannotBeUsed) {
  const predict::Predictor model = model_of(pairs("kind = \"rnn\"", "score = \"dot\""));
  expect_part(error_of([&] { look(model, ""); }), "nothing to look at");
  expect_part(error_of([&] { look(model, "\xff"); }), "UTF-8");
  expect_part(error_of([&] { look(model, std::string(5000, 'a')); }), "too many to look at");
}

// ------------------------------------------------------------------------------------------------------- a part of it

const std::string kTransformer = pairs("kind = \"transformer\"\nencoder_layers = 2\ndecoder_layers = 2", "heads = 2");

TEST(Look, SomeAttentionsHeadsAndRows) {
  const predict::Predictor model = model_of(kTransformer);
  const Example all = look(model, "abcd", "efg");
  const Example some =
      look(model, "abcd", "efg", {}, {.attentions = {"decoder.1.source"}, .heads = {2}, .first_row = 2, .last_row = 3});
  ASSERT_EQ(some.maps.size(), 1u);
  expect_whole(some);
  const Map &whole = *all.find("decoder.1.source"), &part = some.maps.front();
  EXPECT_EQ(part.layer, whole.layer);
  EXPECT_EQ(part.label, whole.label + ", head 2 of 2");
  EXPECT_EQ(part.heads, 1);
  ASSERT_EQ(part.rows, 2);
  for (int64_t r = 0; r < 2; ++r)
    for (int64_t c = 0; c < whole.columns; ++c) EXPECT_EQ(part.at(0, r, c), whole.at(1, r + 1, c));
  EXPECT_EQ(some.sequence(part.queries).tokens, (std::vector<std::string>{"f", "g"}));
  EXPECT_EQ(some.log_probability, all.log_probability);
}

TEST(Look, WhatIsNotThereCannotBeChosen) {
  const predict::Predictor model = model_of(kTransformer);
  const auto said = [&](const Shown& shown) { return error_of([&] { look(model, "abcd", "efg", {}, shown); }); };
  expect_part(said({.attentions = {"decoder.1.sauce"}}), "did you mean 'decoder.1.source'? There are: encoder.0.self");
  expect_part(said({.heads = {3}}), "head 3: encoder.0.self has 2");
  expect_part(said({.first_row = 5, .last_row = 9}), "rows 5 to 9");
}

/// Every mechanism is refused before its weights are computed, and what is not looked at costs nothing.
TEST(Look, TooMuchIsRefused) {
  const predict::Predictor model = model_of(kTransformer);
  const std::string line(50, 'a');
  EXPECT_THROW(look(model, line, line, {}, {.weights = 10'000}), TooManyWeights);
  EXPECT_NO_THROW(look(model, line, line, {}, {.attentions = {"encoder.0.self"}, .weights = 5'000}));
  EXPECT_THROW(look(model, line, line, {}, {.attentions = {"encoder.0.self"}, .weights = 4'999}), TooManyWeights);
  EXPECT_THROW(look(model, line, "a", {}, {.tokens = 49}), TooManyTokens);
  EXPECT_THROW(look(model, "a", line, {}, {.tokens = 49}), TooManyTokens);
  EXPECT_NO_THROW(look(model, line, line, {}, {.tokens = 50}));
  const predict::Predictor by_steps = model_of(pairs("kind = \"rnn\"\ninput_feeding = true", "score = \"dot\""));
  EXPECT_THROW(look(by_steps, line, line, {}, {.weights = 1'000}), TooManyWeights);
}

TEST(Watch, EndsWhereItBegan) {
  const predict::Predictor model = model_of(pairs("kind = \"rnn\"", "score = \"dot\""));
  const predict::TextPair pair[] = {{"ab", "b"}};
  const attend::Watch outer;
  {
    const attend::Watch inner;
    model.score_all(pair);
    EXPECT_EQ(inner.calls().size(), 1u);
  }
  EXPECT_TRUE(outer.calls().empty());
  model.score_all(pair);
  EXPECT_EQ(outer.calls().size(), 1u);
}

}  // namespace
}  // namespace heed::view
