// heed's own products beside the yardstick.
#pragma once

namespace heed::bench {

/// The products of a layer, forward, back to its rows and to its weight: heed/tensor/product.h beside oneDNN.
void print_product_table(int threads);

}  // namespace heed::bench
