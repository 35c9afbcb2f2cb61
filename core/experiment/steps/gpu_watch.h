// Watches the GPUs of a measurement: power, clocks and counters become columns of the row, and a GPU that was throttled
// or shared makes the row unreliable. Does nothing without GPUs or without NVML.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/results/doubt.h"
#include "core/results/record.h"
#include "core/telemetry/nvml/neighbours.h"
#include "core/telemetry/sampler.h"

namespace gpubench {

struct WatchedGpu {
  std::string device;  ///< "gpu:0"
  std::string bus_id;
  /// It is a slice of the GPU at `bus_id`, whose power, counters and processes are those of all slices.
  bool slice = false;
};

class GpuWatch {
 public:
  /// GPUs unknown to NVML are left out; their columns stay empty.
  GpuWatch(std::span<const WatchedGpu> gpus, const NvmlAccess& access, SamplerOptions options = {},
           std::shared_ptr<Ticker> ticker = std::make_shared<Ticker>());

  void begin();
  void end();

  /// Call after end(): sets the columns declared as filled by "gpus", each only if it was measured; of a slice, clocks
  /// and temperature alone. `examples`: number of examples between begin() and end().
  void describe(Record& record, double examples) const;
  /// Why the measurement is unreliable: "gpu:0 was slowed down: power brake".
  Doubt doubt() const;

 private:
  struct Gpu {
    std::string device;
    GpuSensors sensors;
    bool slice;
    std::vector<Neighbour> neighbours;
  };
  void look_for_neighbours();
  std::uint64_t throttle_reasons() const;
  /// Combines `figure` over all GPUs; NaN if one GPU lacks it.
  template <class Figure, class Combine>
  double of_all(const Figure& figure, const Combine& combine) const;

  std::vector<Gpu> gpus_;
  std::unique_ptr<Sampler> sampler_;
};

}  // namespace gpubench
