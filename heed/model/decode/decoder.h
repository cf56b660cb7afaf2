// memory -> states that predict tokens. A parallel decoder has all positions at once, in training and in search; a
// decoder that writes step by step has them at once in training, and one at a time in search.
#pragma once

#include <memory>
#include <vector>

#include "heed/attend/mechanism.h"
#include "heed/model/decode/state.h"
#include "heed/model/encode/encoder.h"

namespace heed::decode {

/// Weights of the attention to the source, of each layer, on request: of run() [B, H, target, source], of step()
/// [rows, H, 1, source].
struct Alignment {
  std::vector<attend::Weights> layers;
};

/// Further outputs of the attention to the source, for the loss of a model; one per layer that has it.
struct AttentionCosts {
  bool want_entropy = false;                       // hard_sampled: request it
  bool want_guide = true;                          // guided: request it
  const attend::GivenAlignments* links = nullptr;  // given alignments: request the weight on them
  bool want_matrix = false;                        // request all weights, with a gradient
  std::vector<Tensor> guide;                       // time guided: of each row, [H, target tokens]
  std::vector<Tensor> log_prob;  // hard_sampled while training: [samples * H, target tokens]; with time static [.., B]
  std::vector<Tensor> entropy;   // on request: [H, target tokens]; with time static [H, B]
  std::vector<Tensor> aligned_weight;  // with links: of each row, on its links, [H, target tokens]
  std::vector<Tensor> matrix;          // on request: [H * target tokens, longest memory]

  attend::Request request(bool weights) const {
    return {
        .weights = weights, .guide_cost = want_guide, .entropy = want_entropy, .matrix = want_matrix, .links = links};
  }

  void add(const attend::Attended& a) {
    if (a.guide_cost) guide.push_back(a.guide_cost);
    if (a.log_prob) log_prob.push_back(a.log_prob);
    if (a.log_prob && a.entropy) entropy.push_back(a.entropy);
    if (a.aligned_weight) aligned_weight.push_back(a.aligned_weight);
    if (a.matrix) matrix.push_back(a.matrix);
  }
};

/// Threads: many may use it at once, each with its own tape.
class ParallelDecoder {
 public:
  virtual ~ParallelDecoder() = default;

  /// x [target tokens, width], a vector for each position -> [target tokens, width]. Of a Decoder this is teacher
  /// forcing: the vectors are those of the previous tokens.
  virtual Tensor run(const Packed& x, const encode::Encoded& source, Alignment* alignment = nullptr,
                     AttentionCosts* costs = nullptr) const = 0;

  virtual int64_t width() const = 0;                      // of the output
  virtual std::vector<int64_t> source_heads() const = 0;  // of the attention to the source, in each layer that has one
};

/// Threads: as ParallelDecoder; a state belongs to one search.
class Decoder : public ParallelDecoder {
 public:
  /// For a search of at most `longest` steps: a row for each source. The decoder must outlive the state.
  virtual std::unique_ptr<State> start(const encode::Encoded& source, int64_t longest) const = 0;
  /// One step of every row: x [rows, width], the vectors of the tokens at position state.step() -> [rows, width]. The
  /// same numbers as run(), without gradients.
  virtual Tensor step(Tensor x, State& state, Alignment* alignment = nullptr) const = 0;
};

struct RecurrentDecoderOptions {
  RecurrentOptions recurrent;  // one direction
  bool input_feeding = false;  // the last attentional vector is fed in with the next token.  Luong et al. 2015, 3.3
  float dropout = 0.0f;
  attend::Options attention;                     // any of the catalogue: model/encode/attention_options.h
  encode::Wiring wiring = encode::Wiring::last;  // or mix
  encode::AttentionChanges places = {};          // what differs from `attention` to the source, and to its own past
};

/// s_t = RNN(y_{t-1}), c_t = attend(s_t, memory), out = tanh(W [c_t; s_t]).   Luong, Pham and Manning 2015
/// If something is said about the place "decoder": out = tanh(W [c_t; s_t; d_t]), d_t = attend(s_t, s_1 .. s_{t-1}).
/// Paulus et al. 2018
std::unique_ptr<Decoder> recurrent(const Scope& scope, const RecurrentDecoderOptions& options,
                                   const encode::Encoder& encoder);

/// Block: masked self-attention, attention to the source, feed-forward.   Vaswani et al. 2017
std::unique_ptr<Decoder> transformer(const Scope& scope, const encode::StackOptions& options,
                                     const encode::Encoder& encoder);

/// The same blocks without the mask: every position sees all others.   Ghazvininejad et al. 2019
std::unique_ptr<ParallelDecoder> parallel_transformer(const Scope& scope, const encode::StackOptions& options,
                                                      const encode::Encoder& encoder);

}  // namespace heed::decode
