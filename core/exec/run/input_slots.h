// The inputs of a planned step. Inputs of devices with memory of their own go through two slots (or one), filled on a
// stream beside the kernels', so that one step's copy runs under the step before it and a recording's memory never
// changes. Inputs that are read in place have a recording for each set of places that comes again.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "core/exec/run/bound_plan.h"

namespace gpubench {

class InputSlots {
 public:
  /// Takes memory for the slots. Throws OutOfMemory.
  InputSlots(BoundPlan& bound, InputFeed feed);

  /// Which recording of the segments that read inputs a run takes.
  struct Reading {
    std::size_t recording = 0;
    bool comes_again = true;  ///< these places were read before, so that a recording is worth its cost
    bool replaces = false;    ///< a recording of this index was made for other places
  };
  /// Has the next run read `inputs`. Waits until the run that read the slot last is done.
  Reading set(std::span<const TensorView> inputs);
  /// Has the next run read what the slot that is next holds already.
  Reading set_again();
  /// Marks the end of the run's launches, behind which the slot may be filled again.
  void end_run();
  /// Blocks until no run that has returned reads its inputs any more.
  void wait();
  /// Has all places be new ones, as recordings are gone.
  void forget_places();
  int in_flight() const { return feeds_.empty() ? 0 : feed_.slots; }
  const InputFeed& feed() const { return feed_; }

 private:
  static constexpr std::size_t slot_count = most_input_slots;
  /// A pipeline has a slot for each element in its buffer and a few in the step loop's hands.
  static constexpr std::size_t most_places = 32;

  struct Input {
    const TensorType* type = nullptr;  // null where nothing reads it
    std::size_t device = 0;
    std::array<std::byte*, slot_count> given{};  // what the latest runs were given, by slot
    std::array<Buffer, slot_count> copies;       // on devices that cannot read host memory in place
    bool copied() const { return copies[0].data() != nullptr; }
  };
  /// How inputs reach a device with memory of its own.
  struct Feed {
    Device* device = nullptr;
    std::unique_ptr<Stream> copies;  // null: inputs on the device, which are read there or copied in its kernels' order
    std::array<std::unique_ptr<Event>, slot_count> filled;   // the slot's inputs have arrived
    std::array<std::unique_ptr<Event>, slot_count> drained;  // the run that read the slot is done
    Stream& filling() const { return copies != nullptr ? *copies : device->stream(); }
  };

  void claim(std::size_t index);
  void next_slot();
  void fill_slot(std::span<const TensorView> inputs);
  /// Points the inputs to the slot.
  Reading point_to_slot();
  /// Finds where the inputs are among the places that are known, or remembers them.
  Reading find_places();

  BoundPlan& bound_;
  InputFeed feed_;
  std::vector<Input> inputs_;
  std::vector<Feed> feeds_;                      // of the devices whose inputs are copied
  std::size_t slot_ = 0;                         // of the latest run
  std::vector<std::vector<std::byte*>> places_;  // by recording, of inputs that are read in place
  std::size_t oldest_places_ = 0;
};

}  // namespace gpubench
