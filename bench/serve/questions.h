// What the clients ask, and what they must be answered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::bench {

struct QuestionOptions {
  std::string path;               // of the requests, such as /v1/predict
  std::string body;               // JSON in which @ stands for the input, which comes as a JSON string
  std::string inputs;             // file: one on each line
  std::string expected;           // file: the output for each; empty: only the status is checked
  std::string answer = "output";  // the member of an answer that must be the expected output
};

class Questions {
 public:
  explicit Questions(const QuestionOptions& options);

  size_t size() const { return requests_.size(); }
  /// A whole HTTP request.
  const std::string& request(size_t number) const { return requests_[number]; }
  bool right(size_t number, int status, std::string_view body) const;

 private:
  std::vector<std::string> requests_;
  std::vector<std::string> outputs_;  // expected; or none
  std::vector<std::string> needles_;  // "output":"...": where an answer has it, there is no need to parse the answer
  std::string member_;
};

}  // namespace heed::bench
