// Lines in, outputs out, with a model that `heed train` made:
//
//   translate MODEL < source.txt
//
// The same outputs as `heed predict MODEL --beam 5 --alignments`: after a tab, which source token each token looked at.
#include <heed/predict/predictor.h>

#include <exception>
#include <iostream>
#include <string>

int main(int count, char** arguments) try {
  const auto model = heed::predict::load(count > 1 ? arguments[1] : "model");
  for (std::string line; std::getline(std::cin, line);) {
    const auto answer = model.predict(line, {.beam = 5});
    if (!answer.error.empty()) std::cerr << answer.error << '\n';
    std::cout << answer.text();
    if (!answer.nbest.empty()) std::cout << '\t' << heed::predict::pharaoh(answer.nbest.front());
    std::cout << std::endl;
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
