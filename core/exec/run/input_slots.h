// The inputs of a planned step. Inputs of devices with their own memory go through two slots (or one), filled on a
// stream beside the kernels' stream, so that one step's copy overlaps the previous step and a recording's memory never
// changes. Inputs that are read in place have one recording for each recurring set of addresses.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "core/device/device.h"
#include "core/exec/run/bound_plan.h"

namespace gpubench {

class InputSlots {
 public:
  /// Allocates the slots. Throws OutOfMemory.
  InputSlots(BoundPlan& bound, InputFeed feed);

  /// Which recording of the segments that read inputs a run uses.
  struct Reading {
    std::size_t recording = 0;
    bool comes_again = true;  ///< these addresses were used before, so that a recording is worth its cost
    bool replaces = false;    ///< an existing recording of this index is for other addresses
  };
  /// Makes the next run read `inputs`. Waits for the run that last read the slot.
  Reading set(std::span<const TensorView> inputs);
  /// Makes the next run read the current content of the next slot.
  Reading set_again();
  /// Marks the end of the run's launches, after which its slot may be filled again.
  void end_run();
  /// Blocks until no returned run reads its inputs any more.
  void wait();
  /// Forgets all addresses, because the recordings are gone.
  void forget_places();
  int in_flight() const { return feeds_.empty() ? 0 : feed_.slots; }
  const InputFeed& feed() const { return feed_; }

 private:
  static constexpr std::size_t slot_count = most_input_slots;
  /// A pipeline uses one slot for each element in its buffer, plus a few in the step loop.
  static constexpr std::size_t most_places = 32;

  struct Input {
    const TensorType* type = nullptr;  // null if nothing reads the input
    std::size_t device = 0;
    std::array<std::byte*, slot_count> given{};  // memory of the latest runs' inputs, by slot
    std::array<Buffer, slot_count> copies;       // on devices that cannot read host memory in place
    bool copied() const { return copies[0].data() != nullptr; }
  };
  /// How inputs reach a device with its own memory.
  struct Feed {
    Device* device = nullptr;
    std::unique_ptr<Stream> copies;  // null: inputs are on the device, and are read in place or copied in stream order
    std::array<std::unique_ptr<Event>, slot_count> filled;   // the slot's inputs have arrived
    std::array<std::unique_ptr<Event>, slot_count> drained;  // the run that read the slot is done
    Stream& filling() const { return copies != nullptr ? *copies : device->stream(); }
  };

  void claim(std::size_t index);
  void next_slot();
  void fill_slot(std::span<const TensorView> inputs);
  /// Redirects the inputs to the slot.
  Reading point_to_slot();
  /// Finds the inputs' addresses among the known ones, or adds them.
  Reading find_places();

  BoundPlan& bound_;
  InputFeed feed_;
  std::vector<Input> inputs_;
  std::vector<Feed> feeds_;                      // of devices with copied inputs
  std::size_t slot_ = 0;                         // of the latest run
  std::vector<std::vector<std::byte*>> places_;  // by recording: addresses of inputs that are read in place
  std::size_t oldest_places_ = 0;
};

}  // namespace gpubench
