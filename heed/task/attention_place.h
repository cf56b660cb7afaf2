// What the attentions inside a model look from and at: for pictures of them.
#pragma once

namespace heed::task {

/// What the queries or the keys of an attention are.
enum class AttentionRows {
  source,      // the tokens of the source; of two texts the first
  second,      // of two texts the second
  both,        // two texts as one sequence
  target_in,   // the tokens that a decoder has read: <s>, y_1, .., y_n
  target_out,  // the tokens that it writes: y_1, .., y_n, </s>
  written,     // parallel decoders: all positions of an output, y_1, .., y_n; with slots up to the last one
  text,        // running text: the tokens that are read
  sentences,   // of a document
  cells,       // of a picture, row by row
  pooled,      // the vectors that a sequence is turned into
};

/// Of one attention of a model.
struct AttentionPlace {
  const char* group = "";  // what it does: "attention to the source"
  AttentionRows queries = AttentionRows::source, keys = AttentionRows::source;
};

}  // namespace heed::task
