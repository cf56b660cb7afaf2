// expect: a region needs: std::pair<int64_t, int64_t> keys(int64_t b, int64_t h, int64_t i, int64_t Tk) const
#include <heed/kernels/attention.h>

struct OnlyVisible {
  bool visible(int64_t, int64_t, int64_t i, int64_t j) const { return j <= i; }
};

int main() {
  OnlyVisible mine;
  auto custom = heed::kernels::custom_region(mine);
  return custom.keys == nullptr;
}
