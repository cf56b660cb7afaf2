// One query between two keys that are equally good, through the catalogue: the context is the mean of the values, and
// the gradient comes back to the parameters.
#include <heed/attend/all.h>
#include <heed/base/error.h>
#include <heed/tensor/ops.h>
#include <heed/train/optimise/adam.h>

#include <cmath>
#include <cstdio>

int main() {
  const float queries[] = {1, 0}, keys[] = {0, 1, 0, 1}, values[] = {2, 4};
  heed::Parameters parameters;
  const auto attention = heed::attend::make(
      parameters, heed::attend::options_of("additive", {.key_width = 2, .value_width = 1, .hidden = 3}));

  heed::Tape tape;
  const auto prepared =
      attention->prepare({{tape.input(keys, 2, 2), tape.even_offsets(1, 2)}, tape.input(values, 2, 1)});
  const auto attended = attention->attend({{tape.input(queries, 1, 2), tape.even_offsets(1, 1)}}, prepared);
  const float context = attended.context.item();
  tape.backward(heed::sum(attended.context));
  heed::optimise::Adam(parameters).step(0.01f);
  std::printf("context %g, %zu parameters\n", static_cast<double>(context), parameters.size());

  try {
    heed::attend::make(parameters, heed::attend::options_of("aditive", {}));
  } catch (const heed::Error& error) {
    std::printf("%s\n", error.what());
    return std::fabs(context - 3.0f) < 1e-6f && parameters.size() == 4 ? 0 : 1;
  }
  return 1;
}
