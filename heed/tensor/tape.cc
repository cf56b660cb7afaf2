#include "heed/tensor/tape.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/kernels/isa.h"
#include "heed/kernels/splitmix64.h"
#include "heed/tensor/gradient.h"

namespace heed {

int64_t Offsets::longest() const {
  int64_t most = 0;
  for (int64_t b = 0; b < count; ++b) most = std::max(most, length(b));
  return most;
}

float* Tensor::unpacked() const {
  // Only read, as an input is; a pointer for writing would drop the copy for inference.
  return node_->parameter ? const_cast<float*>(node_->parameter->value.data()) : nullptr;
}

const float* Tensor::gradient() const {
  if (!node_ || (node_->has_gradient && !*node_->has_gradient)) return nullptr;
  return node_->gradient;
}

GradientSink Tensor::sink() const {
  if (!needs_gradient()) return {};
  return node_->tape->sink(*node_);
}

Tape::Tape(TapeOptions options) : options_(options) {
  // Here HEED_ISA in the environment takes effect, before the first operation.
  const kernels::Status status = kernels::isa_status();
  expect(static_cast<bool>(status), "{}", status.message());
}

uint64_t Tape::next_seed() { return kernels::splitmix64(options_.seed + kernels::kSplitmix64Step * ++draws_); }

Tensor Tape::add_node(Node node) {
  stop_if_interrupted();
  nodes_.push_back(new (arena_.take(sizeof(Node))) Node(node));
  return Tensor(nodes_.back());
}

Tensor Tape::input(const float* data, int64_t rows, int64_t cols, bool needs_gradient) {
  // The value of an input is only read, unless the caller hands it to write_rows() as a cache to fill; the node has one
  // type of pointer for all.
  return add_node({this, const_cast<float*>(data), rows, cols, nullptr, nullptr, needs_gradient && recording(), true});
}

Tensor Tape::in_place(float* data, int64_t rows, int64_t cols) {
  Tensor t = add_node({this, data, rows, cols, nullptr, nullptr, false, true});
  t.node_->written_in_place = true;
  return t;
}

Tensor Tape::parameter(Parameter& p) {
  const bool wanted = recording() && p.trainable;
  const bool packed = p.value.is_packed();
  expect(!wanted || !packed,
         "parameter '{}' is packed for inference and cannot be trained; Parameters::unpack() makes it numbers again",
         p.name);
  if (wanted && p.gradient.size() != p.value.size()) p.gradient.resize(p.value.size());
  if (wanted && tell_ && used_.insert(&p).second) first_uses_.push_back({&p, notes_.size()});
  // Only read, as an input is; a pointer for writing would drop the copy for inference.
  float* value = packed ? nullptr : const_cast<float*>(std::as_const(p.value).data());
  return add_node(
      {this, value, p.rows(), p.cols(), wanted ? p.gradient.data() : nullptr, &p.has_gradient, wanted, true, &p});
}

Tensor Tape::filled(int64_t rows, int64_t cols, float value) {
  Tensor t = make(rows, cols, false);
  std::fill_n(t.data(), t.size(), value);
  return t;
}

Offsets Tape::offsets(std::span<const int64_t> values) {
  return {keep<int64_t>(values), static_cast<int64_t>(values.size()) - 1};
}

Offsets Tape::even_offsets(int64_t count, int64_t length) {
  int64_t* at = keep<int64_t>(count + 1);
  for (int64_t b = 0; b <= count; ++b) at[b] = b * length;
  return {at, count};
}

Tensor Tape::make(int64_t rows, int64_t cols, bool needs_gradient) {
  float* value = arena_.take_array<float>(rows * cols);
  return add_node({this, value, rows, cols, nullptr, nullptr, needs_gradient && recording(), false, nullptr, true});
}

void Tape::drop_since(size_t first, Tensor but) {
  size_t kept = first;
  for (size_t i = first; i < nodes_.size(); ++i) {
    Node* node = nodes_[i];
    // The tensor itself, and the one whose memory it is a view of.
    if (node == but.node_ || (node->owns_value && node->value == but.data())) {
      nodes_[kept++] = node;
      continue;
    }
    if (node->owns_value) arena_.give(node->value);
    arena_.give(node);
  }
  nodes_.resize(kept);
  noted_ = kept;
}

Tensor Tape::view(Tensor of, int64_t rows, int64_t cols) {
  return add_node({this, of.data(), rows, cols, nullptr, nullptr, of.needs_gradient(), false});
}

Tensor Tape::make_in_place(int64_t rows, int64_t cols) {
  Tensor t = make(rows, cols, true);
  t.node_->keeps_gradient = true;
  t.node_->written_in_place = true;
  std::fill_n(t.data(), t.size(), 0.0f);
  return t;
}

void Tape::pass_gradient(Tensor from, Tensor to) {
  if (!from.gradient() || !to.needs_gradient()) return;
  Node& source = *from.node_;
  Node& target = *to.node_;
  // Inputs keep their gradient after the backward and parameters own theirs; all others may take the memory over.
  if (!target.gradient && !target.keeps_gradient && !source.keeps_gradient) {
    target.gradient = source.gradient;
    source.gradient = nullptr;
    return;
  }
  const GradientSink sink = to.sink();
  add_gradient(sink, to.size(), [g = source.gradient](int64_t i) { return g[i]; });
}

GradientSink Tape::sink(Node& node) {
  if (node.has_gradient) {
    const bool fresh = !*node.has_gradient;
    *node.has_gradient = true;
    return {node.gradient, fresh};
  }
  if (node.gradient) return {node.gradient, false};
  node.gradient = arena_.take_array<float>(node.rows * node.cols);
  return {node.gradient, true};
}

void Tape::backward(Tensor loss) {
  expect(loss && loss.size() == 1, "backward: the loss must be one number, not [{}, {}]", loss ? loss.rows() : 0,
         loss ? loss.cols() : 0);
  const float one = 1.0f;
  seed_gradient(loss, &one);
  run();
}

void Tape::seed_gradient(Tensor at, const float* gradient) {
  expect(at.needs_gradient(), "backward: nothing that this tensor depends on needs a gradient{}",
         recording() ? "" : " (the tape is not recording)");
  add_gradient(at.sink(), at.size(), [gradient](int64_t i) { return gradient[i]; });
}

bool Tape::arrived(const Note& note) const {
  if (note.watched) return note.watched->gradient != nullptr;
  for (size_t i = note.made.first; i < note.made.last; ++i)
    if (nodes_[i]->gradient && !nodes_[i]->keeps_gradient) return true;
  return false;
}

void Tape::run() {
  for (size_t n = notes_.size(); n-- > 0;) {
    const Note& note = notes_[n];
    stop_if_interrupted();
    if (arrived(note)) note.run(note.closure);
    for (size_t i = note.made.first; i < note.made.last; ++i) {
      Node& node = *nodes_[i];
      if (node.keeps_gradient) continue;
      arena_.give(node.gradient);
      node.gradient = nullptr;
    }
    tell_final(n);
  }
  tell_final(0);  // where there are no notes at all
  notes_.clear();
}

void Tape::tell_final(size_t notes_left) {
  while (!first_uses_.empty() && first_uses_.back().notes_before >= notes_left) {
    Parameter& parameter = *first_uses_.back().parameter;
    first_uses_.pop_back();
    tell_(parameter);
  }
}

void Tape::on_final_gradient(std::function<void(Parameter&)> tell) {
  tell_ = std::move(tell);
  first_uses_.clear();
  used_.clear();
}

void Tape::reset(uint64_t seed) {
  options_.seed = seed;
  draws_ = 0;
  nodes_.clear();
  notes_.clear();
  noted_ = 0;
  first_uses_.clear();
  used_.clear();
  arena_.reset();
}

}  // namespace heed
