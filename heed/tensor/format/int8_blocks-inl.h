// The kernel of int8 products: included once for each way to multiply, inside a namespace of its own, hence no guard.
//
// HEED_QUADS 1: four products of an unsigned and a signed byte are added to a lane at once (VNNI). Rows are stored plus
// 128, and the sums start from -128 times the sum of the weights of a column: whole numbers, so nothing is lost.
// HEED_QUADS 0: bytes are widened to 16 bits, and two products are added to a lane at once: (2 * 128 * 127) fits.
// Either way the sum of a column is the same integer, and so are the bits of the result.

#if HEED_QUADS
inline constexpr int kColumns = static_cast<int>(kLanes);  // of a vector of sums
using RowNumber = uint8_t;
#else
inline constexpr int kColumns = static_cast<int>(kLanes) / 2;  // each has two lanes, added at the end
using RowNumber = int16_t;
#endif
inline constexpr int kVecsOfPanel = static_cast<int>(kPanelWidth) / kColumns;
inline constexpr size_t kVecBytes = size_t{4} * kColumns;  // of a weight

#if HEED_QUADS
using Bytes = hn::Repartition<int8_t, I32>;
using Left = hn::Vec<hn::Repartition<uint8_t, I32>>;
using Right = hn::Vec<Bytes>;

HWY_INLINE Right LoadRight(const int8_t* at) { return hn::LoadU(Bytes(), at); }
HWY_INLINE Left LoadLeft(const RowNumber* at) {
  int32_t quad;
  std::memcpy(&quad, at, sizeof quad);
  return hn::BitCast(hn::Repartition<uint8_t, I32>(), hn::Set(I32(), quad));
}
/// sums + l_0 r_0 + l_1 r_1 + l_2 r_2 + l_3 r_3 in each lane. Highway has this since 1.0.7 (SumOfMulQuadAccumulate);
/// the one of Debian 12 does not.
HWY_INLINE hn::Vec<I32> AddDots(Left left, Right right, hn::Vec<I32> sums) {
#if HWY_TARGET == HWY_AVX2
  return hn::Vec<I32>{_mm256_dpbusd_avx_epi32(sums.raw, left.raw, right.raw)};
#else
  return hn::Vec<I32>{_mm512_dpbusd_epi32(sums.raw, left.raw, right.raw)};
#endif
}
#else
using Words = hn::Repartition<int16_t, I32>;
using Left = hn::Vec<Words>;
using Right = hn::Vec<Words>;

HWY_INLINE Right LoadRight(const int8_t* at) {
  const hn::Rebind<int8_t, Words> bytes;
  return hn::PromoteTo(Words(), hn::LoadU(bytes, at));
}
HWY_INLINE Left LoadLeft(const RowNumber* at) {
  int64_t quad;
  std::memcpy(&quad, at, sizeof quad);
  return hn::BitCast(Words(), hn::Set(hn::Repartition<int64_t, I32>(), quad));
}
HWY_INLINE hn::Vec<I32> AddDots(Left left, Right right, hn::Vec<I32> sums) {
  hn::Vec<I32> unused = hn::Zero(I32());
  return hn::ReorderWidenMulAccumulate(I32(), left, right, sums, unused);
}
#endif

/// kRows rows of kPanels panels, in each kVecs vectors of sums from the vector `first` on. The results that do not
/// exist (`cols` of the first panel do) are computed and not written.
template <int kRows, int kVecs, int kPanels>
HWY_INLINE void SumQuads(const QuadBlock& block, int first) {
  const F32 d;
  constexpr int kAll = kVecs * kPanels;
  constexpr int kTogether = HEED_QUADS ? 1 : 2;  // vectors that make one of results
  hn::Vec<I32> acc[kRows][kAll];
#pragma GCC unroll 16
  for (int v = 0; v < kAll; ++v) {
#if HEED_QUADS
    const size_t col =
        static_cast<size_t>(v / kVecs) * kPanelWidth + static_cast<size_t>((first + v % kVecs) * kColumns);
    const hn::Vec<I32> start = hn::LoadU(I32(), block.starts + col);
#else
    const hn::Vec<I32> start = hn::Zero(I32());
#endif
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) acc[r][v] = start;
  }
  // Three rows share a base pointer, as in the products of float32.
  constexpr int kBases = (kRows + 2) / 3;
  const auto* rows = static_cast<const RowNumber*>(block.rows);
  const RowNumber* base[kBases];
#pragma GCC unroll 4
  for (int i = 0; i < kBases; ++i) {
    base[i] = rows + 3 * i * block.row_stride;
    asm("" : "+r"(base[i]));
  }
  const int8_t* w[kPanels];
#pragma GCC unroll 4
  for (int q = 0; q < kPanels; ++q) w[q] = block.w + q * block.w_stride + static_cast<size_t>(first) * kVecBytes;
  for (size_t p = 0; p < block.quads; ++p) {
    Right right[kAll];
#pragma GCC unroll 16
    for (int v = 0; v < kAll; ++v) right[v] = LoadRight(w[v / kVecs] + static_cast<size_t>(v % kVecs) * kVecBytes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Left left = LoadLeft(base[r / 3] + (r % 3) * block.row_stride);
#pragma GCC unroll 16
      for (int v = 0; v < kAll; ++v) acc[r][v] = AddDots(left, right[v], acc[r][v]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kBases; ++i) base[i] += 4;
#pragma GCC unroll 4
    for (int q = 0; q < kPanels; ++q) {
      if constexpr (kRows <= 3) __builtin_prefetch(w[q] + kQuadsAhead * 4 * kPanelWidth, 0, 3);
      w[q] += 4 * kPanelWidth;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const V32 row_scale = hn::Set(d, block.row_scales[r]);
    float* y = block.y + static_cast<size_t>(r) * block.y_stride;
#pragma GCC unroll 16
    for (int v = 0; v < kAll; v += kTogether) {
      const size_t col =
          static_cast<size_t>(v / kVecs) * kPanelWidth + static_cast<size_t>((first + v % kVecs) * kColumns);
      if (col >= block.cols) continue;
#if HEED_QUADS
      const hn::Vec<I32> dots = acc[r][v];
#else
      const hn::Vec<I32> dots =
          hn::Add(hn::ConcatEven(I32(), acc[r][v + 1], acc[r][v]), hn::ConcatOdd(I32(), acc[r][v + 1], acc[r][v]));
#endif
      // No multiply-add: SSE4 has none, and these bits are the same everywhere.
      const V32 product = hn::Mul(hn::ConvertTo(d, dots), hn::Mul(row_scale, hn::LoadU(d, block.scales + col)));
      const float* start = block.add ? y + col : block.bias ? block.bias + col : nullptr;
      if (col + kLanes <= block.cols) {
        hn::StoreU(start ? hn::Add(hn::LoadU(d, start), product) : product, d, y + col);
      } else {
        HWY_ALIGN float some[kLanes];
        hn::StoreU(product, d, some);
        for (size_t c = 0; c < block.cols - col; ++c) y[col + c] = start ? start[c] + some[c] : some[c];
      }
    }
  }
}

template <int kRows>
void RunQuads(QuadBlock block, size_t panels) {
  constexpr int kVecs = std::min(BlockVecs(kRows), kVecsOfPanel);
  constexpr int kTogether = BlockVecs(kRows) / kVecs;  // panels
  for (size_t p = 0; p < panels;) {
    size_t step = 1;
    if (kTogether > 1 && p + kTogether <= panels) {
      SumQuads<kRows, kVecs, kTogether>(block, 0);
      step = kTogether;
    } else {
      for (int v = 0; v < kVecsOfPanel; v += kVecs) SumQuads<kRows, kVecs, 1>(block, v);
    }
    const size_t cols = step * kPanelWidth;
    p += step;
    block.w += step * block.w_stride;
    block.starts += cols;
    block.scales += cols;
    if (block.bias) block.bias += cols;
    block.y += cols;
    block.cols = block.cols > cols ? block.cols - cols : 0;
  }
}

template <int... kRows>
HWY_INLINE void RunQuadsOf(int64_t rows, const QuadBlock& block, size_t panels, std::integer_sequence<int, kRows...>) {
  using Run = void (*)(QuadBlock, size_t);
  static constexpr Run kRuns[] = {RunQuads<kRows + 1>...};
  kRuns[rows - 1](block, panels);
}

inline void MultiplyQuads(const Int8View& weight, const Int8Rows& x, const RowProduct& product,
                          const ProductTile& tile) {
  const int64_t all = tile.row_end - tile.row, panels = tile.panel_end - tile.panel;
  const bool few = all <= kMostRows;
  const int64_t pieces = (all + kMostRows - 1) / kMostRows;
  // A panel stays in the L1 cache while all rows pass; with few rows, the rows do while all panels pass.
  const int64_t together = few ? panels : 1;
  for (int64_t panel = tile.panel; panel < tile.panel_end; panel += together)
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const int64_t first = tile.row + all * piece / pieces, end = tile.row + all * (piece + 1) / pieces;
      const int64_t col = panel * kPanel;
      const QuadBlock block{
          .rows = static_cast<const RowNumber*>(x.numbers) + (first - x.first) * x.stride,
          .row_stride = static_cast<size_t>(x.stride),
          .row_scales = x.scales + (first - x.first),
          .quads = static_cast<size_t>(weight.quads),
          .w = weight.panel(panel),
          .w_stride = static_cast<size_t>(weight.panel_bytes()),
          .starts = weight.starts + col,
          .scales = weight.scales + col,
          .bias = product.bias ? product.bias + col : nullptr,
          .add = product.add,
          .y = product.y + first * weight.out + col,
          .y_stride = static_cast<size_t>(weight.out),
          .cols = static_cast<size_t>(std::min(weight.out - col, together * kPanel)),
      };
      RunQuadsOf(end - first, block, static_cast<size_t>(together), std::make_integer_sequence<int, kMostRows>());
    }
}

/// x [end - first, in] as integers, with a scale for each row.
inline void RoundRows(const float* x, int64_t in, Int8Rows to, int64_t count) {
  const F32 d;
  const hn::Rebind<RowNumber, F32> narrow;
  const auto width = static_cast<size_t>(in);
  const size_t whole = width / kLanes * kLanes;
  for (int64_t r = 0; r < count; ++r, x += in) {
    auto* numbers = static_cast<RowNumber*>(to.numbers) + r * to.stride;
    const hn::Vec<I32> no_sign = hn::Set(I32(), 0x7FFFFFFF);
    hn::Vec<I32> most = hn::Zero(I32());  // sizes are no negative integers
    for (size_t i = 0; i < whole; i += kLanes)
      most = hn::Max(most, hn::And(hn::BitCast(I32(), hn::LoadU(d, x + i)), no_sign));
    HWY_ALIGN int32_t sizes[kLanes];
    hn::StoreU(most, I32(), sizes);
    uint32_t largest = 0;
    for (const int32_t size : sizes) largest = std::max(largest, static_cast<uint32_t>(size));
    for (size_t i = whole; i < width; ++i) largest = std::max(largest, size_bits(x[i]));
    const Int8Scale s = int8_scale(largest);
    to.scales[r] = s.scale;
    constexpr RowNumber kZero = HEED_QUADS ? 128 : 0;
    if (s.inverse == 0) {
      std::fill_n(numbers, to.stride, kZero);
      continue;
    }
    const V32 inverse = hn::Set(d, s.inverse), round = hn::Set(d, kRoundBySum);
    const hn::Vec<I32> bias = hn::Set(I32(), std::bit_cast<int32_t>(kRoundBySum) - (HEED_QUADS ? 128 : 0));
    for (size_t i = 0; i < whole; i += kLanes) {
      const V32 sum = hn::Add(hn::Mul(hn::LoadU(d, x + i), inverse), round);
      hn::StoreU(hn::DemoteTo(narrow, hn::Sub(hn::BitCast(I32(), sum), bias)), narrow, numbers + i);
    }
    for (size_t i = whole; i < width; ++i) numbers[i] = static_cast<RowNumber>(int8_of(x[i], s.inverse) + kZero);
    std::fill(numbers + width, numbers + to.stride, kZero);
  }
}
