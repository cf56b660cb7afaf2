#include <png.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/memory.h"
#include "heed/data/jump_guard.h"
#include "heed/data/picture_rows.h"

namespace heed::data {

namespace {

[[noreturn]] void png_failed(png_structp png, png_const_charp why) {
  static_cast<JumpGuard*>(png_get_error_ptr(png))->fail(why);
}
void png_warned(png_structp, png_const_charp) {}  // about parts that are not used: colour profiles, texts

void* png_memory(png_structp png, png_alloc_size_t size) {
  void* memory = std::malloc(size);
  if (!memory) static_cast<JumpGuard*>(png_get_mem_ptr(png))->note_no_memory();
  return memory;
}
void png_free_memory(png_structp, void* memory) { std::free(memory); }

class PngRows final : public PictureRows {
 public:
  explicit PngRows(std::FILE* file)
      : png_(png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &guard_, png_failed, png_warned, &guard_, png_memory,
                                      png_free_memory)) {
    if (!png_) throw std::bad_alloc();
    info_ = png_create_info_struct(png_);
    if (!info_) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
    try {
      read_header(file);
    } catch (...) {
      free();
      throw;
    }
  }
  PngRows(const PngRows&) = delete;
  PngRows& operator=(const PngRows&) = delete;
  ~PngRows() override { free(); }

  void begin() override {
    if (!interlaced_) {
      rgba_.resize(row_bytes());
      return;
    }
    const auto bytes = static_cast<double>(row_bytes()) * static_cast<double>(size().height);
    expect_memory(bytes, fmt::format("an interlaced PNG of {} x {} pixels", size().width, size().height));
    rgba_.resize(row_bytes() * static_cast<size_t>(size().height));
    for (int pass = 0; pass < passes_; ++pass)
      for (int64_t y = 0; y < size().height; ++y) {
        stop_if_interrupted();
        call([&] { png_read_row(png_, rgba_.data() + static_cast<size_t>(y) * row_bytes(), nullptr); });
      }
  }

  void next(uint8_t* rgb) override {
    const uint8_t* row = rgba_.data();
    if (interlaced_)
      row += static_cast<size_t>(done_) * row_bytes();
    else
      call([&] { png_read_row(png_, rgba_.data(), nullptr); });
    ++done_;
    for (int64_t x = 0; x < size().width; ++x, row += 4, rgb += 3)
      for (int c = 0; c < 3; ++c) rgb[c] = on_white(row[c], row[3]);
  }

  void finish() override {
    call([&] { png_read_end(png_, nullptr); });
  }

 private:
  void free() { png_destroy_read_struct(&png_, &info_, nullptr); }
  size_t row_bytes() const { return static_cast<size_t>(size().width) * 4; }
  static uint8_t on_white(int value, int alpha) {
    return static_cast<uint8_t>((value * alpha + 255 * (255 - alpha) + 127) / 255);
  }

  template <class Call>
  void call(const Call& function) {
    if (guard_.run(function)) return;
    if (guard_.no_memory()) throw std::bad_alloc();
    expect(false, ErrorKind::file, "the PNG picture is damaged or cut short ({})", guard_.why());
  }

  /// Whatever the file holds, rows are RGBA of 8 bits afterwards.
  void read_header(std::FILE* file) {
    call([&] {
      png_init_io(png_, file);
      png_read_info(png_, info_);
    });
    set_size(png_get_image_height(png_, info_), png_get_image_width(png_, info_));
    interlaced_ = png_get_interlace_type(png_, info_) != PNG_INTERLACE_NONE;
    call([&] {
      png_set_expand(png_);
      png_set_scale_16(png_);
      png_set_gray_to_rgb(png_);
      png_set_add_alpha(png_, 0xff, PNG_FILLER_AFTER);
      if (interlaced_) passes_ = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
    expect(png_get_rowbytes(png_, info_) == row_bytes(), ErrorKind::bug, "a row of a PNG has {} bytes, not {}",
           png_get_rowbytes(png_, info_), row_bytes());
  }

  JumpGuard guard_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  bool interlaced_ = false;
  int passes_ = 1;                  // over the rows
  int64_t done_ = 0;                // rows
  std::vector<uint8_t> rgba_ = {};  // a row; of an interlaced picture all of them
};

// --------------------------------------------------------------------------------------------------------------- write

void write_bytes(png_structp png, png_bytep bytes, size_t count) {
  auto& all = *static_cast<std::string*>(png_get_io_ptr(png));
  try {
    all.append(reinterpret_cast<const char*>(bytes), count);
    return;
  } catch (const std::bad_alloc&) {  // no exception may pass through libpng
  }
  png_error(png, "not enough memory");
}
void flush_nothing(png_structp) {}

}  // namespace

std::unique_ptr<PictureRows> png_rows(std::FILE* file) { return std::make_unique<PngRows>(file); }

std::string png_of(const Picture& picture) {
  expect(picture.height > 0 && picture.width > 0, "a picture of {} x {} pixels cannot be written", picture.width,
         picture.height);
  JumpGuard guard;
  std::string bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &guard, png_failed, png_warned);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  const bool written = info && guard.run([&] {
    png_set_write_fn(png, &bytes, write_bytes, flush_nothing);
    png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height), 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int64_t y = 0; y < picture.height; ++y) png_write_row(png, picture.pixel(y, 0));
    png_write_end(png, nullptr);
  });
  png_destroy_write_struct(&png, &info);
  if (!written) throw std::bad_alloc();  // nothing else can fail
  return bytes;
}

}  // namespace heed::data
