#include "core/codec/jpeg.h"

#include <array>
#include <cassert>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <vector>

// In this order: the later need the earlier.
#include <jerror.h>
#include <jpeglib.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::array<JOCTET, 2> end_marker{0xff, JPEG_EOI};

/// Warnings after which all pixels are those that were meant.
bool is_harmless(int warning) {
  return warning == JWRN_EXTRANEOUS_DATA || warning == JWRN_JFIF_MAJOR || warning == JWRN_ADOBE_XFORM ||
         warning == JWRN_TOO_MUCH_DATA;
}

bool is_known(J_COLOR_SPACE space) {
  return space == JCS_YCbCr || space == JCS_GRAYSCALE || space == JCS_RGB || space == JCS_CMYK || space == JCS_YCCK;
}

/// Inks of four bytes a pixel as colours of three, or grey of one.
struct InkRows {
  std::vector<JSAMPLE> row;
  bool inverted = false;  ///< 255 is no ink

  int light(JSAMPLE byte) const { return inverted ? byte : 255 - byte; }
  static int product(int a, int b) { return (a * b + 127) / 255; }

  void convert(std::size_t width, bool grey, JSAMPROW to) const {
    for (std::size_t x = 0; x < width; ++x) {
      const JSAMPLE* const inks = &row[4 * x];
      const int black = light(inks[3]);
      const int red = product(light(inks[0]), black);
      const int green = product(light(inks[1]), black);
      const int blue = product(light(inks[2]), black);
      if (grey) {
        // JFIF's luminance, in 65536ths.
        *to++ = static_cast<JSAMPLE>((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16);
      } else {
        *to++ = static_cast<JSAMPLE>(red);
        *to++ = static_cast<JSAMPLE>(green);
        *to++ = static_cast<JSAMPLE>(blue);
      }
    }
  }
};

/// libjpeg leaves by longjmp, over C frames only: nothing below encode() has a destructor.
class JpegEncoder {
 public:
  JpegEncoder() {
    image_.err = jpeg_std_error(&errors_);
    image_.client_data = this;
    errors_.error_exit = [](j_common_ptr common) {
      std::longjmp(static_cast<JpegEncoder*>(common->client_data)->leave_, 1);
    };
    errors_.output_message = [](j_common_ptr) {};
  }
  ~JpegEncoder() {
    jpeg_destroy_compress(&image_);
    std::free(bytes_);
  }
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;

  /// False when there is no memory.
  bool encode(const std::uint8_t* pixels, JDIMENSION height, JDIMENSION width, int channels, int quality) {
    if (setjmp(leave_) != 0) return false;
    jpeg_create_compress(&image_);
    jpeg_mem_dest(&image_, &bytes_, &size_);
    image_.image_height = height;
    image_.image_width = width;
    image_.input_components = channels;
    image_.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&image_);
    jpeg_set_quality(&image_, quality, TRUE);
    jpeg_start_compress(&image_, TRUE);
    const std::size_t row_bytes = std::size_t{width} * static_cast<std::size_t>(channels);
    while (image_.next_scanline < height) {
      auto* row = const_cast<JSAMPROW>(pixels + image_.next_scanline * row_bytes);  // libjpeg only reads it
      jpeg_write_scanlines(&image_, &row, 1);
    }
    jpeg_finish_compress(&image_);
    return true;
  }
  std::span<const std::byte> bytes() const { return {reinterpret_cast<const std::byte*>(bytes_), size_}; }

 private:
  jpeg_compress_struct image_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf leave_{};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

/// libjpeg leaves by longjmp, over C frames only: every call of it is made in guarded(), below which no object of ours
/// has a destructor.
struct JpegDecoder::State {
  jpeg_decompress_struct image{};
  jpeg_error_mgr errors{};
  jpeg_source_mgr source{};
  std::jmp_buf leave{};
  std::array<char, JMSG_LENGTH_MAX> message{};
  bool exhausted = false;  ///< all bytes were read, more were asked for
  InkRows inks;

  State() {
    image.err = jpeg_std_error(&errors);
    image.client_data = this;
    errors.error_exit = [](j_common_ptr common) { of(common).fail(); };
    errors.emit_message = [](j_common_ptr common, int level) {
      State& state = of(common);
      if (level < 0 && !is_harmless(state.errors.msg_code)) state.fail();
    };
    errors.output_message = [](j_common_ptr) {};
    source.init_source = [](j_decompress_ptr) {};
    source.term_source = [](j_decompress_ptr) {};
    source.resync_to_restart = jpeg_resync_to_restart;
    source.skip_input_data = [](j_decompress_ptr common, long count) {
      jpeg_source_mgr& bytes = *common->src;
      if (count <= 0) return;
      if (static_cast<std::size_t>(count) > bytes.bytes_in_buffer) {
        static_cast<void>(bytes.fill_input_buffer(common));
        return;
      }
      bytes.next_input_byte += count;
      bytes.bytes_in_buffer -= static_cast<std::size_t>(count);
    };
    // An image whose end marker alone is missing is complete; libjpeg reads ahead, and complains when bits are missing.
    source.fill_input_buffer = [](j_decompress_ptr common) -> boolean {
      State& state = of(reinterpret_cast<j_common_ptr>(common));
      if (state.exhausted || common->global_state < first_scan || jpeg_has_multiple_scans(common) != 0) {
        state.exhausted = true;
        state.fail();
      }
      state.exhausted = true;
      state.source.next_input_byte = end_marker.data();
      state.source.bytes_in_buffer = end_marker.size();
      return TRUE;
    };
    if (setjmp(leave) != 0) throw OutOfMemory("libjpeg: no memory for a decoder");
    jpeg_create_decompress(&image);
    image.src = &source;
  }
  ~State() { jpeg_destroy_decompress(&image); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[noreturn]] void fail() {
    errors.format_message(reinterpret_cast<j_common_ptr>(&image), message.data());
    std::longjmp(leave, 1);
  }

  void open(std::span<const std::byte> bytes) {
    jpeg_abort_decompress(&image);
    exhausted = false;
    source.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
    source.bytes_in_buffer = bytes.size();
  }

  /// False when libjpeg gave up; no local variable is changed below.
  template <class Call>
  bool guarded(const Call& call) {
    if (setjmp(leave) != 0) return false;
    call();
    return true;
  }

  [[noreturn]] void report(std::int64_t rows, std::int64_t height) {
    std::string what;
    if (height == 0) {
      what = exhausted ? "truncated before the first row" : message.data();
    } else {
      what = exhausted ? fmt::format("truncated after row {} of {}", rows, height)
                       : fmt::format("damaged after row {} of {}: {}", rows, height, message.data());
    }
    jpeg_abort_decompress(&image);
    throw Error("decode: JPEG: " + what);
  }

  void read_rows(RowSink& sink);
  void read_ink_rows(bool grey, RowSink& sink);

 private:
  static constexpr int first_scan = 202;  // DSTATE_READY of jpegint.h: all headers were read
  static State& of(j_common_ptr common) { return *static_cast<State*>(common->client_data); }
};

void JpegDecoder::State::read_rows(RowSink& sink) {
  while (image.output_scanline < image.output_height) {
    JSAMPROW row = sink.place();
    if (!guarded([&] { jpeg_read_scanlines(&image, &row, 1); })) report(image.output_scanline, image.output_height);
    sink.done();
  }
}

void JpegDecoder::State::read_ink_rows(bool grey, RowSink& sink) {
  inks.row.resize(std::size_t{4} * image.output_width);
  inks.inverted = image.saw_Adobe_marker != 0;
  while (image.output_scanline < image.output_height) {
    JSAMPROW row = inks.row.data();
    if (!guarded([&] { jpeg_read_scanlines(&image, &row, 1); })) report(image.output_scanline, image.output_height);
    inks.convert(image.output_width, grey, sink.place());
    sink.done();
  }
}

bool is_jpeg(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0xff} && bytes[1] == std::byte{0xd8};
}

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {}
JpegDecoder::~JpegDecoder() = default;

void JpegDecoder::decode(std::span<const std::byte> bytes, int channels, const ChooseRatio& choose, RowSink& sink) {
  State& state = *state_;
  jpeg_decompress_struct& image = state.image;
  state.open(bytes);
  if (!state.guarded([&] { jpeg_read_header(&image, TRUE); })) state.report(0, 0);
  expect_pixels("JPEG", image.image_height, image.image_width);
  if (!is_known(image.jpeg_color_space)) {
    jpeg_abort_decompress(&image);
    throw Error(
        fmt::format("decode: JPEG: an image of {} colour components is not "
                    "supported (grey, YCbCr, RGB, CMYK and YCCK are)",
                    image.num_components));
  }
  const bool grey = channels == 1 || (channels == 0 && image.jpeg_color_space == JCS_GRAYSCALE);
  const bool inks = image.jpeg_color_space == JCS_CMYK || image.jpeg_color_space == JCS_YCCK;
  image.out_color_space = inks ? JCS_CMYK : grey ? JCS_GRAYSCALE : JCS_RGB;
  image.scale_num = 1;
  image.scale_denom = static_cast<unsigned>(choose({image.image_height, image.image_width, grey ? 1 : 3}));
  image.dct_method = JDCT_ISLOW;
  if (!state.guarded([&] { jpeg_start_decompress(&image); })) state.report(0, image.image_height);
  sink.begin({image.output_height, image.output_width, grey ? 1 : 3});
  if (inks) {
    state.read_ink_rows(grey, sink);
  } else {
    state.read_rows(sink);
  }
  jpeg_abort_decompress(&image);
}

std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width,
                                   std::int64_t channels, int quality) {
  if (channels != 1 && channels != 3) {
    throw Error(fmt::format("encode_jpeg: {} channels; 1 (grey) and 3 (RGB) are possible", channels));
  }
  if (height < 1 || width < 1 || height > JPEG_MAX_DIMENSION || width > JPEG_MAX_DIMENSION) {
    throw Error(
        fmt::format("encode_jpeg: {} x {} pixels; 1 to {} a side are possible", height, width, JPEG_MAX_DIMENSION));
  }
  if (quality < 1 || quality > 100)
    throw Error(fmt::format("encode_jpeg: a quality of {}; 1 to 100 are possible", quality));
  assert(std::ssize(pixels) == height * width * channels);
  JpegEncoder encoder;
  if (!encoder.encode(pixels.data(), static_cast<JDIMENSION>(height), static_cast<JDIMENSION>(width),
                      static_cast<int>(channels), quality)) {
    throw OutOfMemory("encode_jpeg: no memory for the file");
  }
  return {encoder.bytes().begin(), encoder.bytes().end()};
}

}  // namespace gpubench
