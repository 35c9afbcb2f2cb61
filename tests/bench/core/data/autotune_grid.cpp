// AUTOTUNE against every setting of a grid: steady elements per second of eleven pipelines, of which half wait on slow
// files (a timed wait stands for them), one changes its cost midway and one reads files whose rows cost next to
// nothing. Medians of so many rounds.
//
//   build/release/tests/bench/core/data/autotune_grid [rounds [part of a name]]
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

#include "core/base/clock.h"
#include "core/data/epoch_record.h"
#include "core/data/interleave/interleave.h"
#include "core/data/map/map.h"
#include "core/data/source/csv.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "core/data/tune/pipeline.h"

namespace gpubench {
namespace {

constexpr Seconds warm_up{0.3};
constexpr Seconds measured{0.7};
constexpr Seconds tuning{2.5};
constexpr std::int64_t grid[] = {1, 2, 4, 8, 16, 32, 64};
/// Of files, more threads than files are not possible, and 0 is the consumer alone.
constexpr std::int64_t files_grid[] = {0, 1, 2, 4, 8};

/// Arithmetic, and not a look at the clock: time without a core does none of it.
void compute(std::int64_t rounds) {
  static std::atomic<std::uint64_t> sink{0};
  std::uint64_t value = 1;
  for (std::int64_t i = 0; i < rounds; ++i) value = value * 6364136223846793005U + 1442695040888963407U;
  sink.store(value, std::memory_order_relaxed);
}

/// The fastest of some tries, so that other programs do not count.
std::int64_t rounds_per_microsecond() {
  constexpr std::int64_t rounds = 1'000'000;
  Seconds fastest{1.0};
  for (int i = 0; i < 50; ++i) {
    const Stopwatch watch;
    compute(rounds);
    fastest = std::min(fastest, watch.elapsed());
  }
  return static_cast<std::int64_t>(static_cast<double>(rounds) / (fastest.count() * 1e6));
}

void work(std::int64_t microseconds) {
  static const std::int64_t rounds = rounds_per_microsecond();
  compute(rounds * microseconds);
}

void wait(std::int64_t microseconds) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, std::chrono::microseconds(microseconds), [] { return false; });
}

/// What an element costs, which may change while the pipeline runs.
struct Cost {
  std::atomic<std::int64_t> work_us{0};
  std::atomic<std::int64_t> wait_us{0};
};

class Costly final : public ElementFunction {
 public:
  explicit Costly(const Cost& cost) : cost_(cost) {}
  std::vector<TensorType> output_types(TensorTypes inputs) const override { return {inputs.begin(), inputs.end()}; }
  std::unique_ptr<ElementRunner> plan(TensorTypes) const override {
    class Runner final : public ElementRunner {
     public:
      explicit Runner(const Cost& cost) : cost_(cost) {}
      void run(const ElementBlock& elements, ElementOutputs& outputs) override {
        if (const std::int64_t us = cost_.wait_us; us > 0) wait(us);
        if (const std::int64_t us = cost_.work_us; us > 0) work(us);
        const TensorView& in = elements.inputs[0];
        std::memcpy(outputs.place(0, *in.type), in.data, in.type->bytes());
      }

     private:
      const Cost& cost_;
    };
    return std::make_unique<Runner>(cost_);
  }

 private:
  const Cost& cost_;
};

struct Case {
  const char* name;
  std::int64_t work_us;
  std::int64_t wait_us;
  std::int64_t second_work_us;  ///< of a second map
  std::int64_t batch;           ///< 0: none
  std::int64_t consumer_us;
  std::int64_t later_wait_us;  ///< from the middle on
  std::int64_t files = 0;      ///< read in turn, in place of the first map
};
constexpr Case cases[] = {
    {"cheap map, batch", 2, 0, 0, 32, 0, 0},
    {"costly map", 200, 0, 0, 0, 0, 0},
    {"costly map, batch", 200, 0, 0, 8, 0, 0},
    {"costly map, slower consumer", 100, 0, 0, 0, 300, 0},
    {"two maps, batch", 100, 0, 100, 8, 0, 0},
    {"waiting map", 5, 1000, 0, 0, 0, 0},
    {"waiting map, batch", 5, 1000, 0, 8, 0, 0},
    {"waiting map, consumer", 5, 1000, 0, 0, 150, 0},
    {"waiting map, costly map", 0, 2000, 100, 0, 0, 0},
    {"waiting map, cost changes", 5, 500, 0, 0, 0, 3000},
    {"rows of files, batch", 0, 0, 0, 32, 0, 0, 8},
};

/// Files of rows that go away with the program.
const std::vector<std::string>& row_files(std::int64_t count) {
  struct Files {
    std::vector<std::string> paths;
    explicit Files(std::int64_t number) {
      constexpr int rows = 100000;
      for (std::int64_t file = 0; file < number; ++file) {
        const auto name = fmt::format("gpubench_autotune_grid_{}_{}.csv", ::getpid(), file);
        paths.push_back(std::filesystem::temp_directory_path() / name);
        std::ofstream out(paths.back());
        for (int row = 0; row < rows; ++row) {
          for (int column = 0; column < 4; ++column) {
            out << static_cast<double>((row * 7 + column * 13 + file) % 1000) * 0.125 << (column < 3 ? ',' : '\n');
          }
        }
      }
    }
    ~Files() {
      for (const std::string& path : paths) std::remove(path.c_str());
    }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;
  };
  static const Files files(count);
  return files.paths;
}

DatasetPtr rows_in_turn(std::int64_t files, std::int64_t threads) {
  std::vector<DatasetPtr> inputs;
  for (const std::string& path : row_files(files)) {
    inputs.push_back(csv(std::vector{path}, {.columns = std::vector<CsvColumn>(4), .header = false}));
  }
  return repeat(interleave(std::move(inputs), {.cycle_length = files, .parallel = threads}), endless);
}

DatasetPtr pipeline(const Case& shape, const Cost& first, const Cost& second, std::int64_t workers) {
  constexpr std::int64_t values = 256;
  if (shape.files > 0) return prefetch(batch(rows_in_turn(shape.files, workers), shape.batch));
  DatasetPtr dataset = repeat(from_tensor_slices({HostTensor::zeros({{4096, values}, Dtype::f32})}));
  dataset = map(dataset, std::make_shared<Costly>(first), {.workers = workers});
  if (shape.second_work_us > 0) dataset = map(dataset, std::make_shared<Costly>(second), {.workers = workers});
  if (shape.batch > 0) dataset = batch(dataset, shape.batch);
  return prefetch(dataset);
}

/// Elements per second during `time`.
double consume(Cursor& cursor, const Case& shape, Seconds time) {
  const Stopwatch watch;
  std::int64_t taken = 0;
  for (Element element; watch.elapsed() < time; taken += std::max<std::int64_t>(shape.batch, 1)) {
    cursor.next(element);
    if (shape.consumer_us > 0) work(shape.consumer_us);
  }
  return static_cast<double>(taken) / watch.elapsed().count();
}

struct Outcome {
  double rate = 0.0;
  int workers = 0;
};

Outcome measure(const Case& shape, std::int64_t workers) {
  Cost first{shape.work_us, shape.wait_us};
  Cost second{shape.second_work_us, 0};
  const DatasetPtr dataset = pipeline(shape, first, second, workers);
  const std::unique_ptr<Cursor> cursor = open_pipeline(*dataset);
  const Seconds settling = workers == autotune ? tuning : warm_up;
  consume(*cursor, shape, settling);
  if (shape.later_wait_us > 0) {
    first.wait_us = shape.later_wait_us;
    consume(*cursor, shape, settling);
  }
  const double rate = consume(*cursor, shape, measured);
  return {rate, cursor->statistics()[shape.files > 0 ? 1 : 2].workers};  // behind csv, or from_tensor_slices and repeat
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

void compare(const Case& shape, int rounds) {
  const std::span<const std::int64_t> settings = shape.files > 0 ? std::span<const std::int64_t>(files_grid) : grid;
  std::map<std::int64_t, std::vector<double>> rates;
  int chosen = 0;
  for (int i = 0; i < rounds; ++i) {  // all settings in turn: a busy minute of the machine meets all of them
    for (const std::int64_t workers : settings) rates[workers].push_back(measure(shape, workers).rate);
    const Outcome tuned = measure(shape, autotune);
    rates[autotune].push_back(tuned.rate);
    chosen = tuned.workers;
  }
  std::int64_t best = settings[0];
  for (const std::int64_t workers : settings) {
    if (median(rates[workers]) > median(rates[best])) best = workers;
  }
  const double tuned = median(rates[autotune]);
  fmt::print("{:28} best {:9.0f}/s with {:2}   AUTOTUNE {:9.0f}/s with {:2}   {:.2f}\n", shape.name,
             median(rates[best]), best, tuned, chosen, tuned / median(rates[best]));
  std::fflush(stdout);
}

}  // namespace
}  // namespace gpubench

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(std::atoi(argv[1]), 1) : 3;
  const char* const name = argc > 2 ? argv[2] : "";
  for (const gpubench::Case& shape : gpubench::cases) {
    if (std::strstr(shape.name, name) != nullptr) gpubench::compare(shape, rounds);
  }
}
