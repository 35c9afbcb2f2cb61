// Sources and decoders, on one thread: JPEG against bare calls of libjpeg-turbo, rows of CSV, examples of TFRecord.
//
//   build/release/tests/bench/core/data/bench_core_data --benchmark_filter='jpeg|csv|tfrecord'
#include <benchmark/benchmark.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/codec/example.h"
#include "core/data/function/decode_image.h"
#include "core/data/function/parse_example.h"
#include "core/data/map/map.h"
#include "core/data/source/csv.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/source/tfrecord.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/repeat.h"
#include "tests/core/data/images.h"

namespace gpubench {
namespace {

constexpr int height = 500;
constexpr int width = 600;

/// A photograph's size, and about its bits a pixel: waves and noise.
const std::string& photograph() {
  static const std::string file = [] {
    TestImage image = waves(height, width, 3);
    std::uint32_t random = 1;
    for (std::uint8_t& pixel : image.pixels) {
      random = random * 1664525U + 1013904223U;
      pixel = static_cast<std::uint8_t>(std::min(255, pixel + static_cast<int>(random >> 28)));
    }
    return as_jpeg(image, 90);
  }();
  return file;
}

void jpeg_by_libjpeg(benchmark::State& state) {
  const std::string& file = photograph();
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(3) * height * width);
  for (auto _ : state) {
    jpeg_decompress_struct image{};
    jpeg_error_mgr errors{};
    image.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&image);
    jpeg_mem_src(&image, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_read_header(&image, TRUE);
    image.out_color_space = JCS_RGB;
    image.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&image);
    while (image.output_scanline < image.output_height) {
      JSAMPROW row = pixels.data() + static_cast<std::size_t>(3) * width * image.output_scanline;
      jpeg_read_scanlines(&image, &row, 1);
    }
    jpeg_finish_decompress(&image);
    jpeg_destroy_decompress(&image);
    benchmark::DoNotOptimize(pixels.data());
  }
}

void decode_photographs(benchmark::State& state, const DecodeOptions& options) {
  const std::string& file = photograph();
  HostTensor bytes({{1, std::ssize(file)}, Dtype::u8});
  std::copy_n(reinterpret_cast<const std::byte*>(file.data()), file.size(), bytes.data());
  const DatasetPtr dataset = map(repeat(from_tensor_slices({bytes}), endless), decode_image(options));
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  for (auto _ : state) {
    cursor->next(element);
    benchmark::DoNotOptimize(element[0].data());
  }
}

void jpeg_by_decode(benchmark::State& state) {
  decode_photographs(state, {.channels = 3});
}
void jpeg_to_224(benchmark::State& state) {
  decode_photographs(state, {.channels = 3, .size = {{224, 224}}});
}
void jpeg_to_224_as_float(benchmark::State& state) {
  decode_photographs(state, {.channels = 3, .size = {{224, 224}}, .dtype = Dtype::f32});
}

/// A file that goes away with the benchmark.
class BenchFile {
 public:
  explicit BenchFile(const char* name) : path_(std::filesystem::temp_directory_path() / name) {}
  ~BenchFile() { std::filesystem::remove(path_); }
  BenchFile(const BenchFile&) = delete;
  BenchFile& operator=(const BenchFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

void take_batches(benchmark::State& state, const DatasetPtr& dataset, std::int64_t size) {
  const std::unique_ptr<Cursor> cursor = batch(repeat(dataset, endless), size)->open();
  Element element;
  for (auto _ : state) {
    cursor->next(element);
    benchmark::DoNotOptimize(element[0].data());
  }
  state.SetItemsProcessed(state.iterations() * size);
}

void csv_rows(benchmark::State& state, bool pack) {
  constexpr int columns = 10;
  constexpr int rows = 100000;
  const BenchFile file("gpubench_bench.csv");
  std::ofstream out(file.path());
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column)
      out << (row * 7 + column) % 1000 * 0.125 << (column + 1 < columns ? ',' : '\n');
  }
  out.close();
  take_batches(
      state, csv(std::vector{file.path()}, {.columns = std::vector<CsvColumn>(columns), .header = false, .pack = pack}),
      32);
}
void csv_packed(benchmark::State& state) {
  csv_rows(state, true);
}
void csv_columns(benchmark::State& state) {
  csv_rows(state, false);
}

void tfrecord_examples(benchmark::State& state) {
  constexpr int records = 20000;
  const BenchFile file("gpubench_bench.tfrecord");
  TfrecordWriter writer(file.path(), TfrecordCompression::none);
  for (int i = 0; i < records; ++i) {
    const std::string bytes =
        encode_example({{"image", std::vector<float>(28, 0.5F)}, {"label", std::vector<std::int64_t>{i}}});
    writer.write(std::as_bytes(std::span(bytes)));
  }
  writer.close();
  const auto parse = parse_example({{.name = "image", .shape = {28}}, {.name = "label", .dtype = Dtype::i64}});
  take_batches(state, map(tfrecord(std::vector{file.path()}), parse), 32);
}

BENCHMARK(jpeg_by_libjpeg);
BENCHMARK(jpeg_by_decode);
BENCHMARK(jpeg_to_224);
BENCHMARK(jpeg_to_224_as_float);
BENCHMARK(csv_packed);
BENCHMARK(csv_columns);
BENCHMARK(tfrecord_examples);

}  // namespace
}  // namespace gpubench
