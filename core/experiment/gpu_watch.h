// Watches the GPUs that a measurement uses: their power, clocks and counters go into the row's columns, and a GPU that
// was slowed down or shared makes the row unreliable. Without GPUs, or without NVML, it does nothing.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/results/record.h"
#include "core/telemetry/nvml/neighbours.h"
#include "core/telemetry/sampler.h"

namespace gpubench {

struct WatchedGpu {
  std::string device;  ///< "gpu:0"
  std::string bus_id;
};

class GpuWatch {
 public:
  /// GPUs that NVML does not show are left out: their columns stay empty.
  GpuWatch(std::span<const WatchedGpu> gpus, const NvmlAccess& access, SamplerOptions options = {},
           std::shared_ptr<Ticker> ticker = std::make_shared<Ticker>());

  void begin();
  void end();

  /// After end(): sets the columns that are declared as filled by "gpus", each only where it was measured. `examples`
  /// are those between begin() and end().
  void describe(Record& record, double examples) const;
  /// Why what was measured is not to be relied on: "gpu:0 was slowed down: power brake"; empty when nothing speaks
  /// against it.
  std::string doubt() const;

 private:
  struct Gpu {
    std::string device;
    GpuSensors sensors;
    std::vector<Neighbour> neighbours;
  };
  void look_for_neighbours();
  std::uint64_t throttle_reasons() const;
  /// What `figure` says of each GPU, put together; NaN when one of them does not say.
  template <class Figure, class Combine>
  double of_all(const Figure& figure, const Combine& combine) const;

  std::vector<Gpu> gpus_;
  std::unique_ptr<Sampler> sampler_;
};

}  // namespace gpubench
