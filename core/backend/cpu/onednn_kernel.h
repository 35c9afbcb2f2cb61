// A kernel of oneDNN primitives that run one after another. Memory objects and argument lists are built at plan time,
// and primitives run through the C interface, because the C++ interface allocates at every call.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/backend/backend.h"
#include "core/backend/cpu/onednn.h"

namespace gpubench::cpu {

class OneDnnKernel final : public Kernel {
 public:
  /// Binds the calling thread to `device`, because a primitive is planned for the thread count of its device.
  explicit OneDnnKernel(Device& device);

  /// A tensor that the primitives read or write, or a part of the workspace.
  struct Slot {
    std::size_t index = 0;
  };
  /// The tensor, or the part of it that begins `offset` bytes after its first element.
  Slot input(std::size_t index, const dnnl::memory::desc& desc, std::size_t offset = 0);
  Slot output(std::size_t index, const dnnl::memory::desc& desc, std::size_t offset = 0);
  Slot temporary(const dnnl::memory::desc& desc);
  /// `from` itself if it has the layout `wanted`, else a temporary that is filled from it.
  Slot converted(Slot from, const dnnl::memory::desc& wanted);
  /// The slot into which a primitive should write a result meant for `to`: `to` itself if it has the layout `written`,
  /// else a temporary. Call convert(result, to) after that primitive.
  Slot before(Slot to, const dnnl::memory::desc& written);
  /// Converts layouts; does nothing when both are the same slot.
  void convert(Slot from, Slot to);
  /// Appends the conversion of `from` into the layout of another slot `to`, as the kernel's main work.
  void copy(Slot from, Slot to);
  /// Appends a primitive; the kernel is named after the first one added here.
  template <class PrimitiveDesc>
  void add(const PrimitiveDesc& desc, const dnnl::primitive& primitive,
           const std::vector<std::pair<int, Slot>>& arguments) {
    if (implementation_.empty()) implementation_ = std::string("onednn:") + desc.impl_info_str();
    append(primitive, desc.scratchpad_desc(), arguments);
  }

  std::string_view implementation() const override { return implementation_; }
  std::size_t workspace_bytes() const override { return temporary_bytes_ + scratchpad_bytes_; }
  void run(Stream& stream, std::span<const TensorView> inputs, std::span<const TensorView> outputs,
           std::span<std::byte> workspace) override;

 private:
  enum class Place : std::uint8_t { input, output, workspace };
  struct Region {
    Place place;
    std::size_t index;   // of the tensor
    std::size_t offset;  // in the tensor or the workspace
    dnnl::memory memory;
    std::byte* bound;
  };
  struct Step {
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
  };

  std::string append_reorder(Slot from, Slot to);
  Slot add_region(Place place, std::size_t index, std::size_t offset, const dnnl::memory::desc& desc);
  void append(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
              const std::vector<std::pair<int, Slot>>& arguments);
  void bind(Region& region, std::byte* memory);

  std::string implementation_;
  dnnl::stream stream_;
  std::vector<Region> regions_;
  std::vector<Region> scratchpads_;  // one per step; steps run in turn and share the end of the workspace
  std::vector<Step> steps_;
  std::size_t temporary_bytes_ = 0, scratchpad_bytes_ = 0;
};

}  // namespace gpubench::cpu
