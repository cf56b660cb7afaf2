// What the server says about itself: models, curves of their trainings, health, metrics, its description, the page.
#include <algorithm>
#include <string>
#include <vector>

#include "heed/base/fields.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/data/built_in_task.h"
#include "heed/serve/api.h"
#include "heed/serve/jobs.h"
#include "heed/serve/process_metrics.h"
#include "heed/serve/training_curves.h"
#include "heed/task/task.h"
#include "heed/view/page.h"

namespace heed::serve {

using file::Json;

namespace {

const char* word_of(task::AnswerKind kind) {
  switch (kind) {
    case task::AnswerKind::text:
      return "text";
    case task::AnswerKind::label:
      return "label";
    case task::AnswerKind::continuation:
      return "continuation";
    case task::AnswerKind::filled:
      return "filled";
    case task::AnswerKind::vector:
      return "vector";
  }
  return "text";
}

/// Where the model was trained on a built-in task: what it does, and some texts to try, from all over the list. Models
/// of other data tell nothing about it.
void add_first_words(Json& json, const ServedModel& model) {
  constexpr size_t kTexts = 6;
  const std::string name = file::peek(model.predictor.model().training.recipe, "data.task");
  const data::BuiltInTask* task = data::built_in_tasks().look_up(name);
  if (!task) return;
  const std::vector<std::string> all = task->examples().source;
  const size_t count = std::min(kTexts, all.size());
  Json texts = Json::array();
  for (size_t i = 0; i < count; ++i) texts.push_back(all[count > 1 ? i * (all.size() - 1) / (count - 1) : 0]);
  json["description"] = task->description;
  json["examples"] = std::move(texts);
}

}  // namespace

void models_route(Api& api, const std::shared_ptr<Exchange>& exchange) {
  Json models = Json::array(), data = Json::array();
  for (const Models::Model& model : api.models.all()) {
    const view::ModelName& about = model->about;
    Json json = Json::object({{"name", model->name},
                              {"task", about.task},
                              {"kind", about.kind},
                              {"about", about.about},
                              {"answers", word_of(model->task().answers())}});
    add_first_words(json, *model);
    models.push_back(std::move(json));
    data.push_back(Json::object({{"id", model->name}, {"object", "model"}, {"created", 0}, {"owned_by", "heed"}}));
  }
  // "data" is what OpenAI's clients read.
  answer_json(*exchange, Json::object({{"object", "list"}, {"data", std::move(data)}, {"models", std::move(models)}}));
}

void training_route(Api& api, const std::shared_ptr<Exchange>& exchange) {
  enqueue_alone(api, exchange, [&api, exchange] {
    Json all = Json::array();
    for (const Models::Model& model : api.models.all())
      if (std::optional<Json> points = training_curve(model->folder))
        all.push_back(Json::object({{"name", model->name}, {"points", std::move(*points)}}));
    answer_json(*exchange, Json::object({{"training", std::move(all)}}));
  });
}

void health_route(Api& /*api*/, const std::shared_ptr<Exchange>& exchange) {
  answer_json(*exchange, Json::object({{"status", "ok"}}));
}

void ready_route(Api& api, const std::shared_ptr<Exchange>& exchange) {
  if (!api.stopping()) return answer_json(*exchange, Json::object({{"status", "ok"}}));
  exchange->answer({.status = 503, .body = Json::object({{"status", "stopping"}}).line() + "\n"});
}

void metrics_route(Api& api, const std::shared_ptr<Exchange>& exchange) {
  Metrics::Gauges now{.connections = api.connections(), .waiting = api.queue.waiting(), .running = api.queue.running()};
  for (const Models::Model& model : api.models.all()) now.versions[model->name] = model->version;
  exchange->answer(
      {.body = api.metrics.text(now) + process_metrics(), .type = "text/plain; version=0.0.4; charset=utf-8"});
}

void openapi_route(Api& /*api*/, const std::shared_ptr<Exchange>& exchange) {
  static const std::string document = openapi_document();
  exchange->answer({.body = document});
}

void page_route(Api& /*api*/, const std::shared_ptr<Exchange>& exchange) {
  const std::string_view page = view::page_html();
  if (page.empty())
    throw Failure(404, "no_page", "This heed was built without the page, because npm was missing. /v1/... works.");
  exchange->answer({.body = std::string(page),
                    .type = "text/html; charset=utf-8",
                    .headers = {{"Cache-Control", "no-cache"}, {"X-Frame-Options", "DENY"}}});
}

}  // namespace heed::serve
