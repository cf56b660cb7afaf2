// Vectors of a text -> states that predict the next token, from nothing but the tokens before it. One interface for
// training (whole pieces at once) and for search (one step at a time).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "heed/base/fields.h"
#include "heed/base/list.h"
#include "heed/data/carried.h"
#include "heed/model/decode/state.h"
#include "heed/model/encode/encoder.h"
#include "heed/model/encode/own_options.h"

namespace heed::decode {

/// The pieces of a text that run() reads together. Of a state that is carried, `states` are those of each layer, h and
/// for an LSTM c; `rows` are [kept, width], the last states, to look back at.
struct Pieces {
  std::span<const data::CarriedState* const> before = {};  // [pieces] what each goes on from, or null. Empty: no state
  std::vector<data::CarriedState>* after = nullptr;        // [pieces], on request
  const int32_t* documents = nullptr;                      // region documents: the document of each row
  /// `after` has all states to look back at, not only as many as training goes back to. All pieces went on equally
  /// often.
  bool carries_all = false;
};

class TextDecoder {
 public:
  virtual ~TextDecoder() = default;

  /// x: rows [tokens, options.width], a sequence for each piece -> [tokens, width()].
  virtual Tensor run(const Packed& x, const Pieces& pieces) const = 0;

  /// For at most `longest` steps of `sequences` texts.
  virtual std::unique_ptr<State> start(Tape& tape, int64_t sequences, int64_t longest) const = 0;
  /// One step of every row: x [rows, options.width] -> [rows, width()]. The same numbers as run(), without gradients.
  virtual Tensor step(Tensor x, State& state) const = 0;

  virtual int64_t width() const = 0;              // of the output
  virtual bool carries() const { return false; }  // whether Pieces::before and after are used
};

struct TextDecoderOptions {
  encode::StackOptions stack;
  int64_t context = 256;   // tokens of a piece, and the most that a token looks back
  bool looks_back = true;  // recurrent: its states attend to those before them
};

struct TextDecoderEntry {
  const char* name;     // the name in recipes
  const char* meaning;  // a few words
  bool needs_positions = false;
  /// It reads a text in windows of model.context tokens, each of which begins anew. Otherwise its states go on from
  /// piece to piece.
  bool reads_windows = false;
  const char* layers = "decoder";  // where an encoder finds the weights of its layers
  /// The keys of [model] that it reads, beside those that all have: words between blanks.
  const char* keys = "";
  /// Declares keys of [model] that nobody else reads, where they go, and their range. Null: there are none.
  void (*add_keys)(file::Fields& fields, encode::OwnOptions& options) = nullptr;
  /// Updates after which a model with it has learned most, if nothing is said about the length of a training.
  int64_t updates_to_learn = 1500;
  /// Blocks of self-attention: deeper than others, and with heads of their own.
  bool self_attention = false;
  std::unique_ptr<TextDecoder> (*make)(const Scope& scope, const TextDecoderOptions& options) = nullptr;
};

// The list: a new one is one file and one line here.
#define HEED_TEXT_DECODERS(X) X(recurrent) X(transformer) X(lstmn)

#define HEED_DECLARE(name) extern const TextDecoderEntry name##_text_decoder;
HEED_TEXT_DECODERS(HEED_DECLARE)
#undef HEED_DECLARE

const List<TextDecoderEntry>& all_text_decoders();
/// Throws, naming the nearest.
inline const TextDecoderEntry& find_text_decoder(std::string_view name) { return all_text_decoders().find(name); }

}  // namespace heed::decode
