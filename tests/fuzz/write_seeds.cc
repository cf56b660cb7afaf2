// write-seeds FOLDER: the files that each fuzzer starts from, in FOLDER/name.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "heed/checkpoint/manifest.h"
#include "heed/checkpoint/training_state.h"
#include "heed/text/byte_bpe.h"
#include "heed/text/scored_bpe.h"
#include "heed/text/tokeniser.h"
#include "heed/text/wordpiece.h"
#include "tests/data/gzip.h"
#include "tests/data/jpeg_file.h"
#include "tests/data/png_by_hand.h"
#include "tests/fuzz/broken_safetensors.h"
#include "tests/sound/files_by_hand.h"

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
          "[train]\nrate = inf\n[[train]]\n\0train.steps=5\nmodel.inner.text=a\nmodel.inner.widths=[1]\nnothing"s,
          "a.b.'c.d'.\"e\".f = {g.h = [[1, 2], [{i.j = 'k'}]]}\n[l.m]\n[[n.o]]\n[[n.o]]\np = \"\"\"q\\\"\"\"\"\n"};
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
  seeds.push_back(std::string(1, which++) +
                  heed::text::scored_bpe_contents({{"<0x0A>", 0}, {" ", -1}, {"a", -2}, {" a", -1.5f}}) + '\0' +
                  "a\na b");
  heed::text::ByteBpeParts parts{.special = {"<|end|>"}, .merges = {{"a", "b"}}};
  for (int byte = 0, next = 0x100; byte < 256; ++byte) {
    const int code = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD) ? byte : next++;
    parts.tokens.push_back(
        code < 0x80 ? std::string(1, static_cast<char>(code))
                    : std::string{static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))});
  }
  parts.tokens.emplace_back("ab");
  seeds.push_back(std::string(1, which++) + byte_bpe_contents(parts) + '\0' + "ab a\n b's 12");
  seeds.push_back(std::string(1, which++) +
                  heed::text::wordpiece_contents({.special = {"[MASK]"}, .tokens = {"a", "##b", "\u00e4", ","}}) +
                  '\0' + "Ab, \u00c4 b");
  return seeds;
}

/// Little-endian.
template <class Number>
std::string bytes_of(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}
std::string name_of(const std::string& name) { return bytes_of(static_cast<uint16_t>(name.size() + 1)) + name + '\0'; }

Seeds ctranslate2_files() {
  const auto head = [](uint32_t version, uint32_t tensors) {
    return bytes_of(version) + name_of("TransformerSpec") + bytes_of(uint32_t{1}) + bytes_of(tensors);
  };
  const std::string shape = bytes_of(uint8_t{1}) + bytes_of(uint32_t{2});
  const std::string old = name_of("a/weight") + shape + bytes_of(uint8_t{4}) + bytes_of(uint32_t{2}) + bytes_of(1.0);
  const std::string scaled = name_of("a/weight") + shape + bytes_of(uint8_t{1}) + bytes_of(uint32_t{2}) + "ab";
  const std::string scale =
      name_of("a/weight_scale") + shape + bytes_of(uint8_t{0}) + bytes_of(uint32_t{8}) + bytes_of(1.0);
  const std::string alias = bytes_of(uint32_t{1}) + name_of("b") + name_of("a/weight");
  return {head(2, 1) + old, head(3, 1) + old + alias, head(6, 2) + scaled + scale + alias};
}

Seeds llama2c_files() {
  std::string model;
  for (const int32_t size : {4, 2, 1, 2, 1, 3, 2}) model += bytes_of(size);
  model += std::string(4 * (3 * 4 + 4 + 16 + 8 + 8 + 16 + 4 + 3 * 8 + 4 + 2 * 2), '\x01');
  return {model, bytes_of(int32_t{3}) + bytes_of(-1.0f) + bytes_of(int32_t{2}) + "ab"};
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

Seeds sounds() {
  using heed::sound::bytes_of, heed::sound::npy, heed::sound::wav;
  return {
      wav({.bits = 8}, {1, 2, 3}),
      wav({.channels = 2, .bits = 16}, {1, 2, 3, 4}),
      wav({.rate = 44100, .bits = 24, .extensible = true}, {1, 2, 3}),
      wav({.tag = 3, .bits = 32, .before = heed::sound::chunk("LIST", "abc")}, {0x3f000000}),
      wav({.tag = 3, .bits = 64, .data_size = 0xFFFFFFFF}, {0x3ff0000000000000}),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }", bytes_of<float>({1, 2, 3, 4, 5, 6, 7, 8}), 1),
      npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }", bytes_of<double>({1}), 2),
      "audio/wav;base64,UklGRigAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQQAAAABAAIA",
      std::string("fLaC\0\0\0\x22", 8) + std::string(34, '\x10')};
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

Seeds requests() {
  const std::string body = R"({"input": "a b"})";
  const std::string post = "POST /v1/predict?x=1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: id.1\r\nConnection: close\r\n\r\n";
  const std::string whole = post + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  return {"\0"s + get,
          "\5"s + whole,
          "\1"s + whole + get,
          "\7\r\n"s + get,
          "\3"s + post + "Transfer-Encoding: chunked\r\n\r\n4;a=b\r\n" + body.substr(0, 4) + "\r\nc\r\n" +
              body.substr(4) + "\r\n0\r\nTrailer: x\r\n\r\n" + get,
          "\2"s + post + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n{}\n",
          "\4GET http://host/path HTTP/1.0\r\nAuthorization: Bearer t\r\nOrigin: o\r\n\r\n"s,
          "\6PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"s,
          "\6"s + post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"};
}

Seeds bodies() {
  return {
      R"(0{"model": "m", "input": "a b", "beam": 5, "nbest": 2, "length_penalty": 0.6, "mean_score": true})"s,
      R"(0{"inputs": ["a", "b"], "sample": true, "temperature": 0.5, "top_k": 3, "top_p": 0.9, "seed": 7, "distinct": true})"s,
      R"(0{"input": "a", "must": "x", "must_not": ["y", "z"], "prefix": "p", "no_repeat_ngram": 2, "copy_unknown": true})"s,
      R"(0{"input": "\u00e4\ud83d\ude00", "alignments": "links", "scores": false, "stream": true, "coverage": 1e-1})"s,
      R"(0{"input": "a", "groups": 2, "diversity": 1, "layer": 1, "head": 2, "iterations": 4, "lengths": 3, "beam": null})"s,
      R"(1{"model": "m", "input": "a b", "target": "b", "beam": 3, "max_length": 7})"s,
      R"(2{"source": "a", "target": "b", "scores": true})"s,
      R"(2{"pairs": [{"source": "a", "target": "b"}, {"target": "c"}]})"s,
      R"(3{"prompt": ["a", "b"], "max_tokens": 9, "temperature": 0, "n": 1, "stop": ["x", "y"], "echo": true})"s,
      R"(3{"prompt": "a", "temperature": 1.5, "n": 3, "top_p": 0.5, "stop": "x", "logprobs": 1, "user": "me"})"s};
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
  write(folder / "sound", sounds());
  write(folder / "http", requests());
  write(folder / "request_json", bodies());
  write(folder / "ctranslate2", ctranslate2_files());
  write(folder / "llama2c", llama2c_files());
}
