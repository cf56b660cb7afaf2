// write-seeds FOLDER: the files that each fuzzer starts from, in FOLDER/name.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "heed/file/manifest.h"
#include "heed/file/training_state.h"
#include "heed/text/tokeniser.h"
#include "tests/data/gzip.h"
#include "tests/data/jpeg_file.h"
#include "tests/data/png_by_hand.h"
#include "tests/fuzz/broken_safetensors.h"

namespace {

using namespace std::string_literals;
using heed::text::Tokeniser;

using Seeds = std::vector<std::string>;

const std::vector<std::string_view> kSentences = {"the cat sat", "a c\u00e4t on the mat", "\u4e2d\u6587 \ud55c\uae00"};

Seeds safetensors() {
  Seeds seeds;
  for (const auto& bytes : heed::test::good_safetensors()) seeds.emplace_back(bytes);
  for (const auto& file : heed::test::broken_safetensors()) seeds.emplace_back(file.bytes);
  return seeds;
}

Seeds recipes() {
  return {R"(# what
[train]
steps = 20
rate = 1e-3
flag = true
optimiser = "sgd"
seed = 3
)",
          R"([model.inner]
small = -2
share = 0.25
widths = [3, 4]
text = '''a
b'''
needed = "\u00e4"
)",
          R"(model = {inner = {widths = [], needed = ""}}
train.steps = 0x10
date = 1979-05-27T07:32:00Z
)",
          "[train]\nrate = inf\n[[train]]\n\0train.steps=5\nmodel.inner.text=a\nmodel.inner.widths=[1]\nnothing"s};
}

Seeds vocabularies() {
  return {"<unk>\n<s>\n</s>\n", "<unk>\n<s>\n</s>\na\n\\n\n\\s\n\\\\\n\u00e4\n\\0\nword\n", "<unk>\n<s>\na\na\n"};
}

Seeds tokenisers() {
  Seeds seeds;
  char which = 0;
  for (const char* kind : {"characters", "letters", "words"}) {
    const auto tokeniser = Tokeniser::train(kSentences, {.kind = kind});
    seeds.push_back(std::string(1, which++) + tokeniser->contents() + '\0' + std::string(kSentences[1]));
  }
  return seeds;
}

Seeds sentencepieces() {
  Seeds seeds;
  for (const char* model : {"unigram", "bpe"})
    seeds.push_back(Tokeniser::train(kSentences, {.kind = "sentencepiece", .size = 40, .model = model})->contents());
  return seeds;
}

Seeds checkpoints() {
  heed::file::TrainingState state;
  state.set("flag", true);
  state.set("steps", -3);
  state.set("seed", uint64_t{1} << 63);
  state.set("loss", 0.1);
  state.set("best", "a\u00e4\n");
  return {state.json(), R"({"x": {"real": "-inf"}, "y": 1e308})",
          heed::file::manifest_text(
              {{"weights.safetensors", 12, std::string(64, 'a')}, {"state.json", 0, std::string(64, '0')}})};
}

Seeds pairs() {
  const std::string text = "a b\tc\r\n\td\n\u00e4\t\u4e2d\tz\n\xff\tx\n";
  const auto with = [](char choice, const std::string& bytes) { return std::string(1, choice) + bytes; };
  return {with(2, text), with(19, text), with(2, heed::gzip(text)), with(1, "a\nb\n\0c\nd\n"s),
          with(34, "abc\tabcd\na\tb")};
}

Seeds pictures() {
  const auto some = [](int64_t y, int64_t x, int c) { return static_cast<int>((37 * y + 11 * x + c) % 2); };
  const auto samples = [](int channels) { return std::vector<uint8_t>(static_cast<size_t>(9 * 7 * channels), 90); };
  return {heed::png_by_hand({9, 7, 8, 2}, some),
          heed::png_by_hand({9, 7, 8, 6, true}, some),
          heed::png_by_hand({9, 7, 16, 4}, some),
          heed::png_by_hand({9, 7, 1, 0, true}, some),
          heed::png_by_hand({9, 7, 1, 3, false, "abcdef", "x"}, some),
          heed::jpeg_file({9, 7}, samples(3)),
          heed::jpeg_file({9, 7, 3, true}, samples(3)),
          heed::jpeg_file({9, 7, 1, true}, samples(1)),
          heed::jpeg_file({9, 7, 4}, samples(4)),
          "image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNo"
          "AAAAggCBd81ytgAAAABJRU5ErkJggg==",
          "image/jpeg;base64,/9j/4AAQSkZJRg=="};
}

void write(const std::filesystem::path& folder, const Seeds& seeds) {
  std::filesystem::create_directories(folder);
  for (size_t n = 0; n < seeds.size(); ++n)
    std::ofstream(folder / ("seed-" + std::to_string(n)), std::ios::binary) << seeds[n];
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: write-seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = words[1];
  write(folder / "safetensors", safetensors());
  write(folder / "recipe", recipes());
  write(folder / "vocabulary", vocabularies());
  write(folder / "tokeniser", tokenisers());
  write(folder / "sentencepiece", sentencepieces());
  write(folder / "checkpoint", checkpoints());
  write(folder / "pairs", pairs());
  write(folder / "picture", pictures());
}
