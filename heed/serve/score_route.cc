// POST /v1/score and POST /v1/attention
#include <fmt/format.h>

#include "heed/predict/json.h"
#include "heed/serve/api.h"
#include "heed/serve/jobs.h"
#include "heed/serve/question.h"
#include "heed/view/json.h"
#include "heed/view/look.h"

namespace heed::serve {

using file::Json;

void score_route(Api& api, const std::shared_ptr<Exchange>& exchange) {
  ScoreQuestion question = read_score(exchange->request().body, api.options.limits);
  const Models::Model model = api.models.find(question.model);
  for (const predict::TextPair& pair : question.pairs) check_line(*model, pair.source, api.options.limits);
  enqueue_alone(api, exchange, [&api, exchange, model, q = std::move(question)] {
    const std::vector<predict::PairScore> scores = model->predictor.score_all(q.pairs, q.options);
    api.metrics.add_lines(scores.size(), 0);
    exchange->tell("model", model->name);
    exchange->tell("texts", scores.size());
    Json json = Json::object({{"model", model->name}});
    if (q.several) {
      Json all = Json::array();
      for (const predict::PairScore& score : scores) {
        Json one = Json::object();
        predict::add_score(one, score, q.shown);
        all.push_back(std::move(one));
      }
      json["scores"] = std::move(all);
    } else {
      if (!scores.front().error.empty()) throw Failure(400, "input", scores.front().error);
      predict::add_score(json, scores.front(), q.shown);
    }
    answer_json(*exchange, json);
  });
}

namespace {

constexpr const char* kChooseSome = "choose some \"attentions\", \"heads\" or \"rows\"";

view::Example looked_at(const ServedModel& model, const LookQuestion& q) {
  try {
    return view::look(model.predictor, q.question.inputs.front(), q.has_target ? std::optional(q.target) : std::nullopt,
                      q.question.options, q.shown);
  } catch (const view::TooManyTokens& error) {
    throw Failure(413, "too_many_tokens", fmt::format("{} (--max-tokens of the server).", error.what()));
  } catch (const view::TooManyWeights& error) {
    throw Failure(413, "too_many_weights",
                  fmt::format("{} (--max-weights of the server): choose some \"attentions\".", error.what()));
  }
}

/// At least, of the document: a weight is a byte, in base64.
double bytes_of(const view::Example& example) {
  size_t weights = example.beam ? example.beam->weights.size() : 0;
  for (const view::Map& map : example.maps) weights += map.weights.size();
  return 4.0 / 3.0 * static_cast<double>(weights);
}

}  // namespace

void attention_route(Api& api, const std::shared_ptr<Exchange>& exchange) {
  LookQuestion question = read_look(exchange->request().body, api.options.limits);
  const Models::Model model = api.models.find(question.question.model);
  check_line(*model, question.question.inputs.front(), api.options.limits);
  if (!question.has_target || question.question.options.beam > 1) check_search(question.question, api.options.limits);
  enqueue_alone(api, exchange, [&api, exchange, model, q = std::move(question)] {
    view::Document document{.title = "", .models = {model->about}, .examples = {}};
    document.examples.push_back(looked_at(*model, q));
    check_answer(bytes_of(document.examples.front()), api.options.limits, kChooseSome);
    api.metrics.add_lines(1, 0);
    exchange->tell("model", model->name);
    const Json json = view::json_of(document, view::Precision::drawn);
    document = {};
    answer_json(*exchange, json, api.options.limits, kChooseSome);
  });
}

}  // namespace heed::serve
