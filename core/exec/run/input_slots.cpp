#include "core/exec/run/input_slots.h"

#include <algorithm>
#include <cassert>

#include "core/device/device.h"

namespace gpubench {

InputSlots::InputSlots(BoundPlan& bound, InputFeed feed)
    : bound_(bound), feed_(feed), inputs_(bound.plan().inputs.size()) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (bound.plan().inputs[i] >= 0) claim(i);
  }
}

void InputSlots::claim(std::size_t index) {
  const Plan& plan = bound_.plan();
  const PlannedTensor& tensor = plan.tensors[static_cast<std::size_t>(plan.inputs[index])];
  Input& input = inputs_[index];
  input.type = &tensor.type;
  input.device = tensor.device;
  Device& device = bound_.device(tensor.device);
  if (device.shares_host_memory()) return;
  for (int slot = 0; slot < feed_.slots && !feed_.in_place; ++slot) {
    input.copies[static_cast<std::size_t>(slot)] = device.memory().allocate(tensor.type.bytes(), tensor.label);
  }
  bound_.point(index, input.copies[slot_].data());
  if (std::ranges::find(feeds_, &device, &Feed::device) != feeds_.end()) return;
  Feed feed{.device = &device, .copies = nullptr, .filled = {}, .drained = {}};
  if (!feed_.on_device) feed.copies = device.new_stream();
  for (auto& event : feed.filled) event = device.new_event();
  for (auto& event : feed.drained) {
    event = device.new_event();
    // The slots' memory may still be in use by its earlier content.
    device.stream().record(*event);
  }
  feeds_.push_back(std::move(feed));
}

InputSlots::Reading InputSlots::set(std::span<const TensorView> inputs) {
  assert(inputs.size() >= inputs_.size());
  if (!feeds_.empty()) {
    next_slot();
    fill_slot(inputs);
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    Input& input = inputs_[i];
    if (input.type == nullptr) continue;
    assert(*inputs[i].type == *input.type);
    if (!input.copied()) bound_.point(i, inputs[i].data);
    input.given[slot_] = inputs[i].data;
  }
  return point_to_slot();
}

InputSlots::Reading InputSlots::set_again() {
  if (!feeds_.empty()) next_slot();
  return point_to_slot();
}

void InputSlots::next_slot() {
  slot_ = (slot_ + 1) % static_cast<std::size_t>(feed_.slots);
  for (const Feed& feed : feeds_) feed.drained[slot_]->wait();
}

void InputSlots::fill_slot(std::span<const TensorView> inputs) {
  for (const Feed& feed : feeds_) {
    feed.device->bind_to_thread();
    Stream& stream = feed.filling();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Input& input = inputs_[i];
      if (!input.copied() || &bound_.device(input.device) != feed.device) continue;
      stream.copy(input.copies[slot_].data(), inputs[i].data, input.type->bytes());
    }
    if (feed.copies == nullptr) continue;
    stream.record(*feed.filled[slot_]);
    feed.device->stream().wait_for(*feed.filled[slot_]);
  }
}

InputSlots::Reading InputSlots::point_to_slot() {
  const bool in_place = feed_.in_place && !feeds_.empty();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    if (input.copied()) bound_.point(i, input.copies[slot_].data());
    if (in_place && input.type != nullptr) bound_.point(i, input.given[slot_]);
  }
  return in_place ? find_places() : Reading{.recording = slot_};
}

InputSlots::Reading InputSlots::find_places() {
  const auto are_pointed = [this](const std::vector<std::byte*>& places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] != bound_.pointed(i)) return false;
    }
    return true;
  };
  const auto known = std::ranges::find_if(places_, are_pointed);
  Reading reading{.recording = static_cast<std::size_t>(known - places_.begin()),
                  .comes_again = known != places_.end()};
  if (reading.comes_again) return reading;
  if (places_.size() < most_places) {
    places_.emplace_back();
  } else {
    reading.recording = oldest_places_;
    reading.replaces = true;
    oldest_places_ = (oldest_places_ + 1) % most_places;
  }
  std::vector<std::byte*>& places = places_[reading.recording];
  places.clear();
  for (std::size_t i = 0; i < inputs_.size(); ++i) places.push_back(bound_.pointed(i));
  return reading;
}

void InputSlots::forget_places() {
  places_.clear();
  oldest_places_ = 0;
}

void InputSlots::end_run() {
  for (const Feed& feed : feeds_) feed.device->stream().record(*feed.drained[slot_]);
}

void InputSlots::wait() {
  for (const Feed& feed : feeds_) feed.filling().synchronize();
}

}  // namespace gpubench
