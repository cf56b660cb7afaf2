#include "heed/task/model_keys.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "heed/attend/all.h"
#include "heed/attend/choices.h"
#include "heed/task/all.h"
#include "heed/task/predict_options.h"
#include "heed/task/recipe_limits.h"

namespace heed::task {

using file::Fields;
using file::Limit;

namespace {

void add_model(Fields& f, model::Options& m, const Task& task) {
  f.section("model", "The network, from tokens to logits.");
  f.add("model.task", m.task, "the kind of task", Limit::one_of(task::all()));
  task.add_model(f, m);
}

/// Options that follow from the model, or that belong to other tasks.
bool is_inside(std::string_view option) {
  for (const char* name :
       {"input", "query_width", "key_width", "value_width", "output_width", "classes", "predict", "queries"})
    if (option == name) return true;
  return false;
}

void add_attention(Fields& f, attend::Options& a, const Task& task) {
  f.section("attention", "Between decoder and encoder, and in the heads of a Transformer; see `heed mechanisms`.");
  const std::vector<std::string> own = task.own_attention_keys();
  attend::each_option(a, [&](const char* name, auto& value, const char* meaning) {
    if (!is_inside(name) || std::find(own.begin(), own.end(), name) != own.end())
      f.add(std::string("attention.") + name, value, meaning);
  });
  for (const attend::Part part :
       {attend::Part::structure, attend::Part::score, attend::Part::normalise, attend::Part::time})
    f.limit(std::string("attention.") + attend::name_of(part), Limit::one_of(attend::words_for(part)));
  f.limit("attention.heads", Limit::between(1, kMostHeads));
  f.limit("attention.kv_heads", Limit::between(0, kMostHeads));
  for (const char* width : {"attention.width", "attention.hidden"}) f.limit(width, Limit::between(0, kMostWidth));
  f.limit("attention.depth", Limit::between(1, 1000));
  if (std::find(own.begin(), own.end(), "queries") != own.end())
    f.limit("attention.queries", Limit::between(1, kMostHeads));
  f.limit("attention.max_length", Limit::between(1, kLongest));
  f.limit("attention.reach", Limit::between(1, kLongest));
  f.limit("attention.rotary_base", Limit{.least = Limit::Bound{1, false}, .most = Limit::Bound{1e12}});
  f.limit("attention.samples", Limit::between(1, 1000));
  for (const char* keys : {"attention.window", "attention.sinks"}) f.limit(keys, Limit::between(0, kMostTokens));
  f.limit("attention.dropout", Limit::from_to_below(0, 1));
  f.limit("attention.baseline_decay", Limit::from_to_below(0, 1));
  f.limit("attention.entropy_weight", Limit::at_least(0));
  for (const char* steps : {"attention.entropy_steps", "attention.guide_steps"})
    f.limit(steps, Limit::between(0, kMostUpdates));
  f.limit("attention.guide_weight", Limit::at_least(0));
  f.limit("attention.baseline", Limit::one_of(words_of(attend::kBaselines)));
  for (const char* schedule : {"attention.entropy_schedule", "attention.guide_schedule"})
    f.limit(schedule, Limit::one_of(words_of(attend::kDecays)));
}

}  // namespace

void add_model_sections(Fields& fields, model::Options& model, const Task& task) {
  add_model(fields, model, task);
  add_attention(fields, model.attention, task);
}

}  // namespace heed::task
