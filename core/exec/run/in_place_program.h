// Runs a planned graph on one device, with inputs and outputs where the caller has them in the device's memory: kernels
// read the one and write the other, so that nothing is copied in or out. Executors do more: they keep several devices
// busy, and own what they compute.
#pragma once
#include <span>
#include <vector>

#include "core/exec/run/launch.h"

namespace gpubench {

class InPlaceProgram {
 public:
  /// Applies the passes. Variables are not possible. `device` is the program's, and where programs without an op copy.
  /// Throws Error where a kernel is missing.
  InPlaceProgram(const Devices& devices, Program program, const DeviceId& device = {});
  /// Waits for what runs.
  ~InPlaceProgram();
  InPlaceProgram(const InPlaceProgram&) = delete;
  InPlaceProgram& operator=(const InPlaceProgram&) = delete;

  /// Of the program's outputs, in their order.
  const TensorType& output_type(std::size_t index) const;
  std::size_t outputs() const { return plan_.outputs.size(); }
  /// Whether anything depends on the input; the memory of others is not looked at.
  bool reads(std::size_t input) const { return plan_.inputs[input] >= 0; }
  /// `inputs`: one per input of the graph, read only; `outputs`: one per output, none of which overlaps another or an
  /// input. Allocates nothing. Devices that work in the host's memory have written all when the call returns; on others
  /// it is in their stream's order.
  void run(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs);

 private:
  /// An output that kernels write where the caller wants it.
  struct Placed {
    std::size_t output, port;
  };
  /// An output that no kernel can write there: an input, a constant, or one that is there already.
  struct Copied {
    std::size_t output;
    int tensor;
  };

  void place_outputs();

  Plan plan_;
  Device& device_;
  Stream& stream_;
  BoundPlan bound_;
  Buffer arena_;
  std::vector<Placed> placed_;
  std::vector<Copied> copied_;
  std::vector<KernelLaunch> launches_;  // of every run
};

}  // namespace gpubench
