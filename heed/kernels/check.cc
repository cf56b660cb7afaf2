// Everything that can be wrong with a problem, each with the field, what was expected and what was given.
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "heed/kernels/attention.h"
#include "heed/kernels/loop/sequence.h"
#include "heed/kernels/reasons.h"
#include "heed/kernels/score/score.h"

namespace heed::kernels {
namespace {

std::string text(int64_t n) { return std::to_string(n); }

/// Largest length of a sequence: key positions are 32-bit inside tiles.
constexpr int64_t kLongest = 1 << 30;

class Checker {
 public:
  explicit Checker(const Problem& p) : p_(p), score_(score_entry(p)), reasons_(isa_status()) {}

  const Status& done() const { return reasons_.status(); }

  void problem() {
    sizes();
    sizes_ok_ = done().ok();  // checks that read offsets and lengths need valid sizes first
    score();
    bias();
    region();
    normalise();
  }

  void inputs(const Inputs& in) {
    const bool queries = total_queries() > 0, keys = total_keys() > 0;
    if (score_.reads_rows && p_.shape.dim > 0) {
      expect(in.q.data || !queries, "inputs.q: expected data, got null");
      expect(in.k.data || !keys, "inputs.k: expected data, got null");
    }
    expect(in.v.data || !keys || p_.shape.value_dim == 0, "inputs.v: expected data, got null");
  }

  void outputs(const Outputs& out) {
    const Normaliser kind = p_.normalise.kind;
    const bool soft = kind == Normaliser::softmax, choice = kind == Normaliser::argmax || kind == Normaliser::sampled;
    expect(out.out.data || total_queries() == 0 || p_.shape.value_dim == 0, "outputs.out: expected data, got null");
    expect(!out.lse || soft || choice, "outputs.lse: only softmax, argmax and sampled have one");
    expect(!out.entropy || soft || choice, "outputs.entropy: only softmax, argmax and sampled have one");
    expect(!out.entropy || !p_.normalise.sink,
           "outputs.entropy: not defined with normalise.sink, whose weight has no key");
    expect(!out.choice || choice, "outputs.choice: only argmax and sampled choose a key");
    expect(!out.log_prob || choice, "outputs.log_prob: only argmax and sampled choose a key");
    expect(!out.guide_cost || p_.guide.on(),
           "outputs.guide_cost: set guide.sigma, guide.tensor or guide.aligned_offsets");
  }

  void gradients(const BackwardInputs& from, const Gradients& grad) {
    const Normaliser kind = p_.normalise.kind;
    const bool soft = kind == Normaliser::softmax, choice = kind == Normaliser::argmax || kind == Normaliser::sampled;
    const bool rows = total_queries() > 0;
    const bool state = p_.forced_forward.on && (p_.forced_forward.column_lse || total_keys() == 0);
    expect(from.d_out.data || !rows || p_.shape.value_dim == 0, "backward.d_out: expected data, got null");
    expect(from.saved || !rows, "backward.saved: expected the forward's outputs.saved, got null");
    expect(from.out.data || !soft || !rows || p_.shape.value_dim == 0,
           "backward.out: expected the forward's outputs.out, got null");
    expect(from.choice || !choice || !rows,
           "backward.choice: argmax and sampled need the forward's outputs.choice, got null");
    expect(from.forced_saved || !p_.forced_forward.on || !rows || total_keys() == 0,
           "backward.forced_saved: expected the forward's outputs.forced_saved, got null");
    expect(!from.d_lse || soft, "backward.d_lse: only softmax gives lse a gradient");
    expect(!from.d_log_prob || kind == Normaliser::sampled, "backward.d_log_prob: only sampled has one");
    expect(!from.d_entropy || soft || choice, "backward.d_entropy: only softmax, argmax and sampled have an entropy");
    expect(!from.d_entropy || from.entropy,
           "backward.entropy: d_entropy needs the forward's outputs.entropy, got null");
    expect(!from.d_entropy || !p_.normalise.sink, "backward.d_entropy: not defined with normalise.sink");
    expect(!from.d_guide_cost || p_.guide.on(),
           "backward.d_guide_cost: set guide.sigma, guide.tensor or guide.aligned_offsets");
    expect(!from.d_guide_cost || !soft || from.guide_cost,
           "backward.guide_cost: d_guide_cost needs the forward's outputs.guide_cost, got null");
    expect(!from.d_column_lse || state, "backward.d_column_lse: there is no forced_forward.column_lse");
    expect(!grad.d_column_lse || state, "gradients.d_column_lse: there is no forced_forward.column_lse");
    expect(!grad.d_score_v || (score_.has.v && p_.score.v), "gradients.d_score_v: this score has no v");
    expect(!grad.d_layers || score_.has.layers, "gradients.d_layers: this score has no layers");
    expect(!grad.d_custom_score || (score_.has.custom && p_.score.custom),
           "gradients.d_custom_score: there is no score.custom");
    expect(!grad.d_bias_tensor || p_.bias.tensor, "gradients.d_bias_tensor: there is no bias.tensor");
    expect(!grad.d_alibi_slopes || p_.bias.alibi_slopes, "gradients.d_alibi_slopes: there is no bias.alibi_slopes");
    expect(!grad.d_relative || p_.bias.relative, "gradients.d_relative: there is no bias.relative");
    expect(!grad.d_sink || p_.normalise.sink, "gradients.d_sink: there is no normalise.sink");
    expect(!grad.d_centre || p_.region.centre, "gradients.d_centre: there is no region.centre");
    expect(!grad.d_custom_bias || p_.bias.custom, "gradients.d_custom_bias: there is no bias.custom");
  }

 private:
  // Of broken sizes, as if there were some.
  int64_t total_queries() const { return sizes_ok_ ? row_count(p_) : 1; }
  int64_t total_keys() const {
    return !sizes_ok_              ? 1
           : p_.ragged.key_offsets ? p_.ragged.key_offsets[p_.shape.batch]
                                   : p_.shape.batch * p_.shape.keys;
  }

  void offsets(const char* name, const int64_t* at) {
    if (!at) return;
    expect(at[0] == 0, name, "offsets that start at 0", at[0]);
    for (int64_t b = 0; b < p_.shape.batch; ++b)
      if (at[b + 1] < at[b] || at[b + 1] - at[b] > kLongest) {
        refuse(std::string(name) + ": expected offsets that never decrease, in steps of at most 2^30, got " +
               text(at[b]) + " then " + text(at[b + 1]) + " at sequence " + text(b));
        return;
      }
  }

  void sizes() {
    const Shape& s = p_.shape;
    expect(s.batch >= 0 && s.batch <= INT32_MAX, "shape.batch", "0 to 2^31 - 1", s.batch);
    expect(s.heads >= 1 && s.heads <= INT32_MAX, "shape.heads", "1 or more", s.heads);
    expect(s.kv_heads >= 0, "shape.kv_heads", "0 (as many as heads) or more", s.kv_heads);
    if (s.kv_heads > 0 && s.heads >= 1)
      expect(s.heads % s.kv_heads == 0, [&] {
        return "shape.kv_heads: expected a divisor of shape.heads = " + text(s.heads) + ", got " + text(s.kv_heads);
      });
    expect(s.queries >= 0 && s.queries <= kLongest, "shape.queries", "0 to 2^30", s.queries);
    expect(s.keys >= 0 && s.keys <= kLongest, "shape.keys", "0 to 2^30", s.keys);
    expect(s.value_dim >= 0 && s.value_dim <= kWidest, "shape.value_dim", "0 to 2^20", s.value_dim);
    if (score_.reads_rows) expect(s.dim >= 0 && s.dim <= kWidest, "shape.dim", "0 to 2^20", s.dim);
    expect(p_.threads >= 0, "threads", "0 (OpenMP's default) or more", static_cast<int64_t>(p_.threads));
    if (s.batch >= 0) {
      offsets("ragged.query_offsets", p_.ragged.query_offsets);
      offsets("ragged.key_offsets", p_.ragged.key_offsets);
    }
  }

  void score() {
    const Score& s = p_.score;
    expect(!(s.softcap < 0.0f) && std::isfinite(s.softcap), "score.softcap", "0 (off) or a positive number", s.softcap);
    if (score_.check) score_.check(p_, reasons_);
  }

  void packed(const char* field, bool on) {
    expect(!on || p_.ragged.query_offsets,
           [&] { return std::string(field) + ": needs ragged.query_offsets, which say where each sequence starts"; });
  }

  void bias() {
    const Bias& b = p_.bias;
    if (b.relative)
      expect(b.relative_reach >= 0 && b.relative_reach <= kLongest, "bias.relative_reach", "0 or more",
             b.relative_reach);
    packed("bias.packed", b.packed);
    expect(!b.custom || b.custom->add, "bias.custom: expected the result of custom_bias()");
  }

  void region() {
    const Region& r = p_.region;
    packed("region.mask_packed", r.mask_packed);
    expect(r.causal || !r.strict, "region.strict: needs region.causal");
    expect(r.window_left >= -1, "region.window_left", "-1 (no bound) or more", r.window_left);
    expect(r.window_right >= -1, "region.window_right", "-1 (no bound) or more", r.window_right);
    expect(r.always_visible >= 0, "region.always_visible", "0 or more", r.always_visible);
    expect(std::abs(r.query_offset) <= kLongest, "region.query_offset", "-2^30 to 2^30", r.query_offset);
    expect((r.query_documents == nullptr) == (r.key_documents == nullptr),
           "region.query_documents, region.key_documents: expected both or neither, got one");
    expect(!r.custom || r.custom->keys, "region.custom: expected the result of custom_region()");
    expect(r.centre || !r.centre_picks, "region.centre_picks: needs region.centre");
    if (r.centre) {
      expect(r.centre_half_width >= 0.0f && std::isfinite(r.centre_half_width), "region.centre_half_width", "0 or more",
             r.centre_half_width);
      expect(r.centre_sigma >= 0.0f && std::isfinite(r.centre_sigma), "region.centre_sigma", "0 (no Gaussian) or more",
             r.centre_sigma);
    }
    if (!sizes_ok_) return;
    lengths("region.key_lengths", r.key_lengths, false);
    lengths("region.query_lengths", r.query_lengths, true);
    if (r.query_documents && r.key_documents) {
      documents("region.query_documents", r.query_documents, true);
      documents("region.key_documents", r.key_documents, false);
    }
  }

  void lengths(const char* name, const int32_t* at, bool query_side) {
    for (int64_t b = 0; at && b < p_.shape.batch; ++b) {
      const Sequence s = sequence(p_, b);
      const int64_t most = query_side ? s.queries : s.keys;
      if (at[b] >= 0 && at[b] <= most) continue;
      refuse(std::string(name) + "[" + text(b) + "]: expected 0 to " + text(most) + ", got " +
             text(static_cast<int64_t>(at[b])));
      return;
    }
  }

  void documents(const char* name, const int32_t* ids, bool query_side) {
    for (int64_t b = 0; b < p_.shape.batch; ++b) {
      const Sequence s = sequence(p_, b);
      const bool ragged = query_side ? p_.ragged.query_offsets != nullptr : p_.ragged.key_offsets != nullptr;
      const int64_t count = query_side ? s.queries : s.keys;
      const int32_t* at = ids + (ragged ? (query_side ? s.first_query : s.first_key) : b * count);
      for (int64_t i = 1; i < count; ++i)
        if (at[i] < at[i - 1]) {
          refuse(std::string(name) + ": expected ids that never decrease within a sequence, got " +
                 text(static_cast<int64_t>(at[i - 1])) + " then " + text(static_cast<int64_t>(at[i])) + " at token " +
                 text(i) + " of sequence " + text(b));
          return;
        }
    }
  }

  void normalise() {
    const Normaliser kind = p_.normalise.kind;
    const bool pointwise = kind == Normaliser::sigmoid || kind == Normaliser::relu || kind == Normaliser::identity;
    expect(!p_.normalise.divide_by_visible || pointwise,
           "normalise.divide_by_visible: only sigmoid, relu and identity divide");
    expect(p_.dropout.p >= 0.0f && p_.dropout.p < 1.0f, "dropout.p", "0 to less than 1", p_.dropout.p);
    expect(!(p_.guide.sigma < 0.0f) && std::isfinite(p_.guide.sigma), "guide.sigma", "0 (off) or more", p_.guide.sigma);
    packed("guide.packed", p_.guide.packed);
    expect(!(p_.guide.sigma > 0.0f && p_.guide.tensor), "guide: expected sigma or tensor, got both");
    expect(!p_.guide.aligned_offsets || (!p_.guide.tensor && !(p_.guide.sigma > 0.0f)),
           "guide: expected links, or sigma or tensor, got both");
    expect(!p_.guide.aligned_keys || p_.guide.aligned_offsets, "guide.aligned_keys: needs aligned_offsets");
    expect(!p_.normalise.sink || kind == Normaliser::softmax, "normalise.sink: only softmax can have a sink");
    expect(!p_.normalise.sink || !p_.forced_forward.on, "normalise.sink: not defined with forced_forward");
    expect(!p_.forced_forward.on || kind == Normaliser::softmax, "forced_forward: needs Normaliser::softmax");
  }

  void refuse(std::string reason) { reasons_.refuse(std::move(reason)); }
  template <class... Arguments>
  void expect(Arguments&&... arguments) {
    reasons_.expect(std::forward<Arguments>(arguments)...);
  }

  const Problem& p_;
  const ScoreEntry& score_;
  Reasons reasons_;
  bool sizes_ok_ = false;
};

}  // namespace

Status check(const Problem& p, const Inputs& in, const Outputs& out) {
  Checker checker(p);
  checker.problem();
  checker.inputs(in);
  checker.outputs(out);
  return checker.done();
}

Status check(const Problem& p, const Inputs& in, const BackwardInputs& from, const Gradients& grad) {
  Checker checker(p);
  checker.problem();
  checker.inputs(in);
  checker.gradients(from, grad);
  return checker.done();
}

}  // namespace heed::kernels
