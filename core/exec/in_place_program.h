// Runs a planned graph on one device, with inputs and outputs where the caller has them in the device's memory: kernels
// read the one and write the other, so that nothing is copied in or out. Executors do more: they keep several devices
// busy, and own what they compute.
#pragma once
#include <span>
#include <vector>

#include "core/exec/plan.h"

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
  struct Launch {
    Kernel* kernel;
    std::span<const TensorView> inputs, outputs;  // of views_
    std::span<std::byte> workspace;
  };
  /// The views of memory that the caller gives.
  struct Port {
    std::byte* bound = nullptr;
    std::vector<std::size_t> views;
  };
  /// An output that no kernel can write where the caller wants it: an input, a constant, or one that is there already.
  struct Copy {
    std::size_t output;
    int tensor;
  };

  void place_outputs();
  void keep_constants();
  void bind(bool once);
  void launch();
  std::byte* address(int tensor) const;
  void point(Port& port, std::byte* memory);
  const PlannedTensor& tensor(int index) const { return plan_.tensors[static_cast<std::size_t>(index)]; }

  Plan plan_;
  Device* device_ = nullptr;
  Stream* stream_ = nullptr;
  Buffer arena_;
  std::vector<Buffer> constants_;
  std::vector<int> output_of_buffer_;  // which output's memory a planned buffer is, or -1
  std::vector<Port> inputs_, outputs_;
  std::vector<Copy> copies_;
  std::vector<TensorView> views_;
  std::vector<Launch> launches_;
};

}  // namespace gpubench
