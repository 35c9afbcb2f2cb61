// Every reader of files, for libFuzzer: SAFETY_READER names one. A reader may refuse bytes by an Error, nothing else.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/codec/byte_source.h"
#include "core/codec/checksum.h"
#include "core/codec/example.h"
#include "core/codec/idx.h"
#include "core/codec/jpeg.h"
#include "core/codec/npy.h"
#include "core/codec/npz.h"
#include "core/codec/png.h"
#include "core/codec/safetensors.h"
#include "core/codec/tfrecord.h"
#include "core/compare/changes/series_file.h"
#include "core/compare/foreign/foreign.h"
#include "core/data/cache/stored_elements.h"
#include "core/data/source/csv.h"
#include "core/data/source/image_set.h"
#include "core/data/source/text.h"
#include "core/data/types.h"
#include "core/nn/architecture.h"
#include "core/nn/layer_kind.h"
#include "core/results/run_reader.h"
#include "core/run/job_row.h"
#include "core/traces/analysis.h"
#include "core/traces/chrome_trace.h"
#include "core/traces/nsight.h"
#include "core/traces/xplane.h"
#include "core/train/files/model_files.h"
#include "core/train/files/training_state.h"
#include "core/train/store_variables.h"
#include "core/train/trainer.h"
#include "core/watch/agent_files.h"
#include "core/watch/job_steps.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;
using Bytes = std::span<const std::byte>;

/// A folder of this process, in memory where that can be.
const fs::path& folder() {
  static const fs::path made = [] {
    const fs::path memory = "/dev/shm";
    fs::path path = (fs::exists(memory) ? memory : fs::temp_directory_path()) / ("readers." + std::to_string(getpid()));
    fs::create_directories(path);
    std::atexit([] { fs::remove_all(folder()); });
    return path;
  }();
  return made;
}

fs::path file_of(Bytes bytes, const std::string& name) {
  fs::create_directories((folder() / name).parent_path());
  std::ofstream(folder() / name, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  return folder() / name;
}

/// Two files in one: the first ends at the first zero byte.
std::pair<Bytes, Bytes> two_of(Bytes bytes) {
  const auto at = std::ranges::find(bytes, std::byte{0});
  const auto size = static_cast<std::size_t>(at - bytes.begin());
  return {bytes.first(size), size < bytes.size() ? bytes.subspan(size + 1) : Bytes()};
}

/// Takes images whose rows are of moderate size and forgets them.
class Rows final : public RowSink {
 public:
  void begin(const ImageSize& size) override { row_.resize(size.row_bytes()); }
  std::uint8_t* place() override { return row_.data(); }
  void done() override {}

 private:
  std::vector<std::uint8_t> row_;
};

void drain(const Dataset& dataset) {
  const std::unique_ptr<Cursor> cursor = dataset.open();
  Element element;
  for (int failures = 0; failures < 8;) {
    try {
      if (!cursor->next(element)) return;
    } catch (const Error&) {
      ++failures;
    }
  }
}

void read_csv(Bytes bytes) {
  const std::string path = file_of(bytes, "a.csv").string();
  const std::vector<CsvColumn> columns = {{"a", Dtype::f32, "1"}, {"b", Dtype::i64, {}}, {"c", Dtype::bytes, ""}};
  for (const bool header : {false, true}) {
    try {
      drain(*csv(std::span(&path, 1), {.columns = columns, .header = header}));
    } catch (const Error&) {
      continue;
    }
  }
}

void read_text(Bytes bytes) {
  const std::string path = file_of(bytes, "a.txt").string();
  drain(*text_lines(std::span(&path, 1)));
  drain(*byte_tokens(std::span(&path, 1)));
}

void read_cifar10(Bytes bytes) {
  const ImageSetFolder folder{"here", file_of(bytes, "cifar10/test_batch.bin").parent_path()};
  load_images(cifar10(), "test", {}, std::span(&folder, 1));
}

void read_npz(Bytes bytes) {
  const NpzFile file(file_of(bytes, "a.npz"));
  decode_npy(*file.open("y"));
  decode_integer_lists(file.open("x"));
}

void read_records(Bytes bytes) {
  const fs::path path = file_of(bytes, "a.tfrecord");
  for (const TfrecordCompression compression : {TfrecordCompression::none, TfrecordCompression::gzip}) {
    try {
      TfrecordReader reader(path, compression);
      Bytes record;
      while (reader.next(record)) continue;
    } catch (const Error&) {
      continue;
    }
  }
}

void read_examples(Bytes bytes) {
  ExampleReader reader({"number", "name", "values"});
  for (const FeatureView& feature : reader.read(bytes)) {
    std::array<float, 4> floats{};
    std::array<std::int64_t, 4> ints{};
    std::array<Bytes, 4> texts{};
    if (feature.kind() == "float32") feature.read(floats);
    if (feature.kind() == "int64") feature.read(ints);
    if (feature.kind() == "bytes") feature.read(texts);
  }
}

void read_jpeg(Bytes bytes) {
  static JpegDecoder decoder;
  Rows rows;
  for (const int ratio : {1, 8})
    decoder.decode(
        bytes, 0, [ratio](const ImageSize&) { return ratio; }, rows);
}

void read_png(Bytes bytes) {
  Rows rows;
  for (const int channels : {0, 1, 3}) decode_png(bytes, channels, rows);
}

void inflate(Bytes bytes) {
  InflateSource source(std::make_unique<ByteSpanSource>("bytes", bytes));
  std::array<std::byte, 4096> piece{};
  for (std::size_t all = 0, count = 1; count > 0 && all < (1U << 24U); all += count) count = source.read_some(piece);
}

void read_json(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  to_json(parse_json(text, "bytes"));
}

void read_run_of(Bytes bytes) {
  const auto [info, rows] = two_of(bytes);
  file_of(info, "results/e/20260101T000000Z-x/run.json");
  const fs::path run = file_of(rows, "results/e/20260101T000000Z-x/results.csv").parent_path();
  list_runs(folder());
  read_run(run);
}

void read_archive_of(Bytes bytes) {
  read_run(RunFiles(file_of(bytes, "a.tar.gz")));
}

void read_tables_of_others(Bytes bytes) {
  for (const char* name : {"a.csv", "a.json"}) {
    try {
      read_foreign(file_of(bytes, name));
    } catch (const Error&) {
      continue;
    }
  }
}

void read_series_of(Bytes bytes) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  read_series(in, "bytes");
}

/// A model with a trainer, whose files are read.
struct Trained {
  Devices devices{DeviceConfig{}};
  Runtime runtime{devices};
  std::uint64_t seed = 0;
  StoreVariables factory{runtime, [this] { return ++seed; }};
  ModelPtr model = std::make_shared<Model>(
      "m", std::vector{make_layer("Dense", {{"units", std::int64_t{2}}, {"input_shape", Shape{3}}})});
  Trainer trainer{runtime, factory, model, CompileConfig{make_optimizer("sgd"), {make_loss("mse")}, {}, {}}};
};

void read_model(Bytes bytes) {
  static Trained trained;
  const auto [architecture, weights] = two_of(bytes);
  const std::string_view text(reinterpret_cast<const char*>(architecture.data()), architecture.size());
  const fs::path file = file_of(weights, "weights.safetensors");
  try {
    architecture_to_json(*architecture_from_json(text, {}));
  } catch (const Error&) {
  }
  load_weights(trained.runtime, *trained.model, file);
}

void read_cache(Bytes bytes) {
  CacheReader reader(file_of(bytes, "cache"), "x", {{{2}, Dtype::f32}, {{varying, 3}, Dtype::u8}});
  Element element;
  for (std::int64_t i = 0; i < reader.elements(); ++i) {
    try {
      reader.read(i, element);
      for (const HostTensor& tensor : element) crc32_of({tensor.data(), tensor.bytes()});
    } catch (const Error&) {
      continue;
    }
  }
}

void read_state(Bytes bytes) {
  static Trained trained;
  load_training(trained.trainer, file_of(bytes, "state"));
}

/// All that a run keeps of a trace.
void explain(ForeignTrace trace) {
  const TraceAnalysis analysis = analyse(std::move(trace));
  row_of(analysis);
  if (analysis.window.length() > 0) to_json(profile_of(analysis));
  to_json(facts_of(analysis));
  devices_of(analysis.trace);
}

void read_chrome(Bytes bytes) {
  for (ForeignTrace& rank : read_chrome_trace(std::make_unique<ByteSpanSource>("bytes", bytes)))
    explain(std::move(rank));
}

void read_xplane_of(Bytes bytes) {
  is_xplane(bytes);
  explain(read_xplane("bytes", bytes));
}

void read_nsight_of(Bytes bytes) {
  explain(read_nsight(file_of(bytes, "a.sqlite")));
}

/// How many bytes the counters have, as 32 bits; the counters; facts.
void read_agent(Bytes bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof size) throw Error("there is no size");
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes = bytes.subspan(sizeof size);
  const std::size_t cut = std::min<std::size_t>(size, bytes.size());
  fs::create_directories(folder() / "agent");
  const auto write = [](const fs::path& path, Bytes part) {
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(part.data()), std::ssize(part));
  };
  write(folder() / "agent/100-7.counters", bytes.first(cut));
  write(folder() / "agent/100-7.facts", bytes.subspan(cut));
  const AgentFiles files = read_agent_files(folder() / "agent");
  for (const AgentProcess* const process : files.ranks()) {
    WatchedRank rank{.process = process, .steps = job_steps(*process)};
    rank.worker_sites = worker_sites(files, *process);
    job_row(rank);
    to_json(job_facts(rank));
  }
}

template <auto Decode>
void decode(Bytes bytes) {
  ByteSpanSource source("bytes", bytes);
  Decode(source);
}

HostTensor decode_any_idx(ByteSource& source) {
  return decode_idx(source);
}

const std::map<std::string, std::function<void(Bytes)>> readers = {
    {"agent", read_agent},
    {"archive", read_archive_of},
    {"cache", read_cache},
    {"chrome", read_chrome},
    {"cifar10", read_cifar10},
    {"csv", read_csv},
    {"example", read_examples},
    {"foreign", read_tables_of_others},
    {"gzip", inflate},
    {"idx", decode<&decode_any_idx>},
    {"jpeg", read_jpeg},
    {"json", read_json},
    {"model", read_model},
    {"npy", decode<&decode_npy>},
    {"npz", read_npz},
    {"nsight", read_nsight_of},
    {"png", read_png},
    {"run", read_run_of},
    {"safetensors", decode<&decode_safetensors>},
    {"series", read_series_of},
    {"state", read_state},
    {"text", read_text},
    {"tfrecord", read_records},
    {"xplane", read_xplane_of},
};

}  // namespace
}  // namespace gpubench

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::function<void(gpubench::Bytes)>& read = []() -> const auto& {
    const char* const name = std::getenv("SAFETY_READER");
    const auto found = gpubench::readers.find(name == nullptr ? "" : name);
    if (found == gpubench::readers.end()) {
      std::fputs("SAFETY_READER must be one of:", stderr);
      for (const auto& [known, reader] : gpubench::readers) std::fprintf(stderr, " %s", known.c_str());
      std::exit(2);
    }
    return found->second;
  }
  ();
  try {
    read(std::as_bytes(std::span(data, size)));
  } catch (const gpubench::Error&) {
  }
  return 0;
}
