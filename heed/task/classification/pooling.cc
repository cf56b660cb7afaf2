#include "heed/task/classification/pooling.h"

#include "heed/attend/all.h"
#include "heed/attend/census.h"
#include "heed/attend/structure/tanh_pool.h"
#include "heed/base/error.h"
#include "heed/model/choices.h"
#include "heed/task/classification/relation/all.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/pool.h"

namespace heed::task {

encode::Chosen attention_of_pool(const model::Options& o) {
  const bool about_other = o.two_texts && !find_relation(o.own.of<LabelKeys>().relation).joins;
  encode::Chosen named = encode::chosen(about_other ? attend::Options() : o.attention, o.places, kPoolPlace, 0);
  named.options = attend::canonical(named.options);
  return named;
}

namespace {

/// The mechanism that turns the states of a sequence into one vector. What has its own queries is taken as it is; any
/// other score gets learned ones.
std::unique_ptr<attend::Mechanism> make_pool(const Scope& scope, const model::Options& o, int64_t width) {
  const encode::Chosen named = attention_of_pool(o);
  attend::Options a = named.options;
  a.key_width = width;
  if (!named.names("heads")) a.heads = 1;  // those of a Transformer's self-attention
  const attend::Parts parts = attend::resolve(a);
  bool pools = false;
  for (const attend::Entry* entry :
       {&attend::single_entry, &attend::structured_entry, &attend::feed_forward_entry, &attend::hierarchical_entry})
    pools = pools || parts.structure == entry;
  expect(pools,
         "attention: structure = \"{}\" does not turn a text into a vector; possible are single, structured, "
         "feed_forward and hierarchical (heads belong to a Transformer's own attention)",
         a.structure);
  for (const attend::Entry* region : parts.regions)
    expect(region == &attend::global_entry || region == &attend::local_h_entry,  // around the best, wherever it is
           "attention: region = \"{}\" depends on where a query stands, but a text is pooled as a whole; leave it out",
           region->name);
  expect(a.value_width == 0, "attention: value_width = {} needs separate values, but a state is both key and value",
         a.value_width);
  if (parts.structure == &attend::hierarchical_entry) {
    expect(!o.two_texts, "{}structure = \"hierarchical\" is for documents made of sentences, not for two texts",
           encode::about(o.places, kPoolPlace, 0));
    attend::Census::note({scope.prefix(), a, kPoolPlace, 0});
    return attend::tanh_pool(scope, a);
  }
  if (parts.structure == &attend::single_entry && parts.score == &attend::self_scored_entry)
    a.structure = attend::feed_forward_entry.name;  // one implicit query for each sequence
  else if (!parts.structure->own_queries)
    a.input = attend::learned_query_entry.name;
  // The name of a structure alone is enough.
  if (parts.structure->only_score && a.score == attend::Options().score)
    a = attend::options_of(parts.structure->name, a);
  return encode::make_attention(scope, o.places, kPoolPlace, 0, a);
}

}  // namespace

Pooling::Pooling(const Scope& scope, const model::Options& o, int64_t input) {
  how = value_of(model::kPools, o.pool, "model: pool");
  if (how == model::Pool::attention) mechanism = make_pool(scope, o, input);
  const attend::Options a = attention_of_pool(o).options;
  // What asks each text by learned queries gives a vector for each of them.
  const attend::Entry* structure = attend::resolve(a).structure;
  const bool several =
      mechanism && (structure == &attend::structured_entry ||
                    (structure == &attend::single_entry && attend::resolve(a).score != &attend::self_scored_entry));
  width = input * (several ? a.queries : 1);
  layer = model::PoolLayer(scope / "layer", o.pool_layer, width);
}

Tensor Pooling::operator()(const Packed& states, attend::Weights* weights, Tensor* penalty) const {
  if (!mechanism) return layer(model::pooled(states, how));
  attend::Attended pooled = mechanism->attend({}, mechanism->prepare({states}), {},
                                              {.weights = weights != nullptr, .penalty = penalty != nullptr});
  if (weights) *weights = pooled.weights;
  if (penalty && pooled.penalty) *penalty = pooled.penalty;
  return layer(reshape(pooled.context, states.offsets.count, width));
}

}  // namespace heed::task
