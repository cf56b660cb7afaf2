// What the server says about itself: models, curves of their trainings, health, metrics, its description, the page.
#include "heed/serve/api.h"
#include "heed/serve/jobs.h"
#include "heed/serve/training_curves.h"
#include "heed/view/page.h"

namespace heed::serve {

using file::Json;

void models_route(Api& api, const std::shared_ptr<Exchange>& exchange) {
  Json models = Json::array(), data = Json::array();
  for (const Models::Model& model : api.models.all()) {
    const view::ModelName& about = model->about;
    models.push_back(
        Json::object({{"name", model->name}, {"task", about.task}, {"kind", about.kind}, {"about", about.about}}));
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
  exchange->answer({.body = api.metrics.text(now), .type = "text/plain; version=0.0.4; charset=utf-8"});
}

void openapi_route(Api& /*api*/, const std::shared_ptr<Exchange>& exchange) {
  exchange->answer({.body = std::string(openapi_json())});
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
