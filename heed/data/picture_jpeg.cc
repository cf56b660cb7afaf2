#include <cstddef>
#include <cstdio>
// These need the two above.
#include <jpeglib.h>
// and this the one above.
#include <jerror.h>

#include <new>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/memory.h"
#include "heed/data/jump_guard.h"
#include "heed/data/picture_rows.h"

namespace heed::data {

namespace {

JumpGuard& guard_of(j_common_ptr jpeg) { return *static_cast<JumpGuard*>(jpeg->client_data); }

[[noreturn]] void jpeg_failed(j_common_ptr jpeg) {
  if (jpeg->err->msg_code == JERR_OUT_OF_MEMORY) guard_of(jpeg).note_no_memory();
  char why[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, why);
  guard_of(jpeg).fail(why);
}

/// libjpeg warns of damage and fills what is missing with grey: here that is an error. Some harmless oddities are not.
void jpeg_said(j_common_ptr jpeg, int level) {
  const int what = jpeg->err->msg_code;
  const bool harmless = what == JWRN_EXTRANEOUS_DATA || what == JWRN_JFIF_MAJOR || what == JWRN_ADOBE_XFORM;
  if (level < 0 && !harmless) jpeg_failed(jpeg);
}
void print_nothing(j_common_ptr) {}

/// Called for every few rows. Each scan of a progressive file goes through all its pixels: a small file with thousands
/// of them would take hours.
void limit_work(j_common_ptr jpeg) {
  constexpr int kMostScans = 200;
  if (is_interrupted()) guard_of(jpeg).fail("interrupted");
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > kMostScans)
    guard_of(jpeg).fail("it has more than 200 scans");
}

class JpegRows final : public PictureRows {
 public:
  explicit JpegRows(std::FILE* file) {
    jpeg_.err = jpeg_std_error(&errors_);
    errors_.error_exit = jpeg_failed;
    errors_.emit_message = jpeg_said;
    errors_.output_message = print_nothing;
    jpeg_.client_data = &guard_;
    progress_.progress_monitor = limit_work;
    try {
      call([&] {
        jpeg_create_decompress(&jpeg_);
        jpeg_.progress = &progress_;
        jpeg_stdio_src(&jpeg_, file);
        jpeg_read_header(&jpeg_, TRUE);
      });
      set_size(jpeg_.image_height, jpeg_.image_width);
    } catch (...) {
      jpeg_destroy_decompress(&jpeg_);
      throw;
    }
  }
  JpegRows(const JpegRows&) = delete;
  JpegRows& operator=(const JpegRows&) = delete;
  ~JpegRows() override { jpeg_destroy_decompress(&jpeg_); }

  void begin() override {
    if (jpeg_has_multiple_scans(&jpeg_)) {
      constexpr double kOfACoefficient = 2.0;
      const double all = kOfACoefficient * jpeg_.num_components * static_cast<double>(size().height) *
                         static_cast<double>(size().width);
      expect_memory(all, fmt::format("a progressive JPEG of {} x {} pixels", size().width, size().height));
    }
    // libjpeg makes RGB of grey and of YCbCr, but not of the inks.
    inks_ = jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK;
    jpeg_.out_color_space = inks_ ? JCS_CMYK : JCS_RGB;
    jpeg_.dct_method = JDCT_ISLOW;  // the exact one
    call([&] { jpeg_start_decompress(&jpeg_); });
    const PictureSize out = {jpeg_.output_height, jpeg_.output_width};
    expect(out.height == size().height && out.width == size().width && jpeg_.output_components == (inks_ ? 4 : 3),
           ErrorKind::bug, "a JPEG of {} x {} pixels is read as {} x {}", size().width, size().height, out.width,
           out.height);
    row_.resize(static_cast<size_t>(size().width) * 4);
  }

  void next(uint8_t* rgb) override {
    JSAMPROW row = inks_ ? row_.data() : rgb;
    call([&] { jpeg_read_scanlines(&jpeg_, &row, 1); });
    if (!inks_) return;
    // Adobe's programs store 255 - ink.
    const int flip = jpeg_.saw_Adobe_marker ? 0 : 255;
    const uint8_t* ink = row_.data();
    for (int64_t x = 0; x < size().width; ++x, ink += 4, rgb += 3)
      for (int c = 0; c < 3; ++c) rgb[c] = static_cast<uint8_t>(((ink[c] ^ flip) * (ink[3] ^ flip) + 127) / 255);
  }

  void finish() override {
    call([&] { jpeg_finish_decompress(&jpeg_); });
  }

 private:
  template <class Call>
  void call(const Call& function) {
    if (guard_.run(function)) return;
    stop_if_interrupted();  // which may be why it has failed
    if (guard_.no_memory()) throw std::bad_alloc();
    expect(false, ErrorKind::file, "the JPEG picture is damaged or cut short ({})", guard_.why());
  }

  JumpGuard guard_;
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct jpeg_{};
  bool inks_ = false;
  std::vector<uint8_t> row_ = {};  // of four inks
};

}  // namespace

std::unique_ptr<PictureRows> jpeg_rows(std::FILE* file) { return std::make_unique<JpegRows>(file); }

}  // namespace heed::data
