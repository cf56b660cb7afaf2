// How the programs of the benchmarks talk with the scripts that drive them: a request per line, a reply per line.
#pragma once

#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

namespace heed::bench {

/// Replies to every line of standard input with answer(request). An exception becomes {"error": what happened}.
template <class Answer>
void reply_to_lines(const Answer& answer) {
  for (std::string line; std::getline(std::cin, line);) {
    nlohmann::json reply;
    try {
      reply = answer(nlohmann::json::parse(line));
    } catch (const std::exception& error) {
      reply = {{"error", error.what()}};
    }
    std::cout << reply << std::endl;
  }
}

}  // namespace heed::bench
