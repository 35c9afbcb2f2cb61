#include "core/backend/cpu/onednn_kernel.h"

#include <algorithm>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/device/device.h"

namespace gpubench::cpu {
namespace {

constexpr std::size_t alignment = 64;

dnnl::memory unbound(const dnnl::memory::desc& desc) {
  return {desc, onednn_engine(), DNNL_MEMORY_NONE};
}

void check(dnnl_status_t status, std::string_view call) {
  if (status == dnnl_success) return;
  throw DeviceError("oneDNN", call, status == dnnl_out_of_memory ? "out of memory" : "failed at run time");
}

}  // namespace

OneDnnKernel::OneDnnKernel(Device& device) : stream_(onednn_engine()) {
  device.bind_to_thread();
}

OneDnnKernel::Slot OneDnnKernel::add_region(Place place, std::size_t index, std::size_t offset,
                                            const dnnl::memory::desc& desc) {
  regions_.push_back({place, index, offset, unbound(desc), nullptr});
  return {regions_.size() - 1};
}

OneDnnKernel::Slot OneDnnKernel::input(std::size_t index, const dnnl::memory::desc& desc, std::size_t offset) {
  return add_region(Place::input, index, offset, desc);
}

OneDnnKernel::Slot OneDnnKernel::output(std::size_t index, const dnnl::memory::desc& desc, std::size_t offset) {
  return add_region(Place::output, index, offset, desc);
}

OneDnnKernel::Slot OneDnnKernel::temporary(const dnnl::memory::desc& desc) {
  const Slot slot = add_region(Place::workspace, 0, temporary_bytes_, desc);
  temporary_bytes_ += align_up(desc.get_size(), alignment);
  return slot;
}

OneDnnKernel::Slot OneDnnKernel::converted(Slot from, const dnnl::memory::desc& wanted) {
  const Slot to = before(from, wanted);
  convert(from, to);
  return to;
}

OneDnnKernel::Slot OneDnnKernel::before(Slot to, const dnnl::memory::desc& written) {
  return regions_[to.index].memory.get_desc() == written ? to : temporary(written);
}

void OneDnnKernel::convert(Slot from, Slot to) {
  if (from.index != to.index) append_reorder(from, to);
}

void OneDnnKernel::copy(Slot from, Slot to) {
  implementation_ = "onednn:" + append_reorder(from, to);
}

std::string OneDnnKernel::append_reorder(Slot from, Slot to) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::reorder::primitive_desc desc(onednn_engine(), regions_[from.index].memory.get_desc(), onednn_engine(),
                                           regions_[to.index].memory.get_desc(), attributes);
  append(dnnl::reorder(desc), desc.scratchpad_desc(), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  return desc.impl_info_str();
}

void OneDnnKernel::append(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
                          const std::vector<std::pair<int, Slot>>& arguments) {
  Step step{primitive, {}};
  for (const auto& [argument, slot] : arguments) {
    step.arguments.push_back({argument, regions_[slot.index].memory.get()});
  }
  if (scratchpad.get_size() > 0) {
    scratchpads_.push_back({Place::workspace, 0, 0, unbound(scratchpad), nullptr});
    scratchpad_bytes_ = std::max(scratchpad_bytes_, scratchpad.get_size());
    step.arguments.push_back({DNNL_ARG_SCRATCHPAD, scratchpads_.back().memory.get()});
  }
  steps_.push_back(std::move(step));
}

void OneDnnKernel::bind(Region& region, std::byte* memory) {
  if (memory == region.bound) return;
  check(dnnl_memory_set_data_handle(region.memory.get(), memory), "dnnl_memory_set_data_handle");
  region.bound = memory;
}

void OneDnnKernel::run(Stream&, std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                       std::span<std::byte> workspace) {
  for (Region& region : regions_) {
    switch (region.place) {
      case Place::input:
        bind(region, inputs[region.index].data + region.offset);
        break;
      case Place::output:
        bind(region, outputs[region.index].data + region.offset);
        break;
      case Place::workspace:
        bind(region, workspace.data() + region.offset);
        break;
    }
  }
  for (Region& scratchpad : scratchpads_) bind(scratchpad, workspace.data() + temporary_bytes_);
  for (const Step& step : steps_) {
    check(dnnl_primitive_execute(step.primitive.get(), stream_.get(), static_cast<int>(step.arguments.size()),
                                 step.arguments.data()),
          "dnnl_primitive_execute");
  }
}

}  // namespace gpubench::cpu
