#include "bench/serve/questions.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"

namespace heed::bench {
namespace {

using nlohmann::json;

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  expect(file.is_open(), "cannot read '{}'", path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

Questions::Questions(const QuestionOptions& options) : member_(options.answer) {
  const std::vector<std::string> inputs = read_lines(options.inputs);
  if (!options.expected.empty()) outputs_ = read_lines(options.expected);
  expect(!inputs.empty(), "'{}' is empty", options.inputs);
  expect(outputs_.empty() || outputs_.size() == inputs.size(), "'{}' has {} lines, but '{}' has {}", options.expected,
         outputs_.size(), options.inputs, inputs.size());
  const size_t place = options.body.find('@');
  expect(place != std::string::npos, "the body has no @ for the input: {}", options.body);
  for (const std::string& input : inputs) {
    std::string body = options.body;
    body.replace(place, 1, json(input).dump());
    requests_.push_back(
        fmt::format("POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                    "Content-Length: {}\r\n\r\n{}",
                    options.path, body.size(), body));
  }
  for (const std::string& output : outputs_)
    needles_.push_back(fmt::format("{}:{}", json(member_).dump(), json(output).dump()));
}

bool Questions::right(size_t number, int status, std::string_view body) const {
  if (status != 200) return false;
  if (outputs_.empty() || body.find(needles_[number]) != std::string_view::npos) return true;
  const json answer = json::parse(body, nullptr, false);
  return answer.is_object() && answer.contains(member_) && answer[member_] == outputs_[number];
}

}  // namespace heed::bench
