// Runs a planned graph on one device, with inputs and outputs in the caller's device memory: kernels read and write
// them directly, without copies. Unlike an executor, it uses a single device and does not own its results.
#pragma once
#include <span>
#include <vector>

#include "core/exec/run/launch.h"

namespace gpubench {

class InPlaceProgram {
 public:
  /// Applies the passes. Variables are not supported. `device` is the program's device, needed for copies if the
  /// program has no op. Throws Error if a kernel is missing.
  InPlaceProgram(const Devices& devices, Program program, const DeviceId& device = {});
  /// Waits for running work.
  ~InPlaceProgram();
  InPlaceProgram(const InPlaceProgram&) = delete;
  InPlaceProgram& operator=(const InPlaceProgram&) = delete;

  /// The type of a program output.
  const TensorType& output_type(std::size_t index) const;
  std::size_t outputs() const { return plan_.outputs.size(); }
  /// Whether any output depends on the input; memory of other inputs is never read.
  bool reads(std::size_t input) const { return plan_.inputs[input] >= 0; }
  /// `inputs`: one per input of the graph, read only; `outputs`: one per output; outputs must not overlap each other or
  /// an input. Allocates nothing. On devices that work in host memory the outputs are complete when the call returns;
  /// on others they are complete in stream order.
  void run(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs);

 private:
  /// An output that kernels write directly into the caller's memory.
  struct Placed {
    std::size_t output, port;
  };
  /// An output that must be copied: an input, a constant, or a repeated output.
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
  std::vector<KernelLaunch> launches_;  // launches of every run
};

}  // namespace gpubench
