// Runs a plan: binds every tensor to memory once, then each run is a walk over its segments, the launches in a row on
// one device. A device that can record gets each segment as a recording at its second run; the first loads what kernels
// load late. Inputs of devices with memory of their own go through two slots (or one), filled on a stream beside the
// kernels', so that one step's copy runs under the step before it and a recording's memory never changes. Inputs that
// are read in place have a recording for each set of places that comes again.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "core/exec/executor.h"
#include "core/exec/plan.h"

namespace gpubench {

inline constexpr int most_input_slots = 2;

struct InputFeed {
  bool on_device = false;  ///< inputs lie in their device's memory already
  bool in_place = false;   ///< and are read there
  int slots = most_input_slots;
};

struct BoundStep;

class GraphExecutor final : public Executor {
 public:
  /// `program` has been through the passes. Throws Error, OutOfMemory (naming the plan's largest tensors).
  /// `communicator` carries out its exchanges; nullptr where it has none.
  GraphExecutor(Runtime& runtime, const Program& program, InputFeed feed, Communicator* communicator = nullptr);
  ~GraphExecutor() override;

  void run(std::span<const TensorView> inputs) override;
  void run_again() override;
  void wait_for_inputs() override;
  TensorView result(int index) const override;
  HostTensor read(int index) override;
  PlanFacts facts() const override { return plan_.facts; }
  int inputs_in_flight() const override { return feeds_.empty() ? 0 : feed_.slots; }
  const Plan& plan() const { return plan_; }
  const InputFeed& feed() const { return feed_; }

 private:
  struct Segment;
  struct Input;
  struct Feed;
  struct SideStreams;
  static constexpr std::size_t slot_count = most_input_slots;
  /// A pipeline has a slot for each element in its buffer and a few in the step loop's hands.
  static constexpr std::size_t most_places = 32;

  void claim_memory();
  void claim_input(std::size_t index);
  /// Points the launches of the steps that run once, or of all others, to their memory.
  void bind(bool once);
  void bind_steps(Due due);
  void run_once_steps();
  /// Remembers which variables the plan updates, and on which the steps depend that run when those change.
  void watch_variables();
  std::byte* address(int tensor) const;
  /// A copy beside the kernels, or the wait for the one that an earlier launch begins.
  void bind_side_copy(const PlannedStep& step, BoundStep& launch);
  /// What the replicas exchange: at once, begun, or the end of what an earlier launch begins.
  void bind_exchange(const PlannedStep& step, BoundStep& launch);
  std::size_t index_of_begin(const BoundStep& end) const;
  void cut_segments();
  /// Has a recording end with no copy under way, as it must: those that another segment waits for are joined here.
  void join_copies(Segment& segment);
  void set_inputs(std::span<const TensorView> inputs);
  void point(Input& input, std::byte* memory);
  void fill_slots(std::span<const TensorView> inputs);
  void point_to_slots();
  /// Of inputs that are read in place: finds where they are among the places that are known, or remembers them.
  void find_places();
  void forget_recordings(std::size_t index);
  /// Turns to the next slot and waits until the run that read it last is done.
  void next_slot();
  /// Runs the steps that are due when variables have been written to since it last ran.
  void run_changed_steps();
  void run_segments();
  void run_segment(Segment& segment);
  void launch(const Segment& segment, Stream& stream);
  void launch(const BoundStep& launch, Stream& stream);
  /// Whether the memory or the recordings of the latest bind() no longer hold.
  bool outdated() const;

  Runtime& runtime_;
  Communicator* communicator_;
  Plan plan_;
  std::vector<Device*> devices_;
  std::vector<Stream*> streams_;
  std::vector<Arena::Claim> arenas_, host_arenas_;
  std::vector<std::uint64_t> generations_;
  std::uint64_t recordings_ = 0;
  std::vector<Buffer> constants_;
  std::vector<Input> inputs_;
  std::vector<Feed> feeds_;  // the devices whose inputs are copied
  std::vector<TensorView> views_;
  std::vector<BoundStep> launches_;  // those due when variables change come first, and are in no segment
  std::size_t on_change_ = 0;        // how many those are
  struct Watched {
    const std::atomic<std::uint64_t>* writes;
    std::uint64_t seen;
  };
  std::vector<Watched> watched_;
  std::vector<std::atomic<std::uint64_t>*> updated_;
  std::vector<SideStreams> side_streams_;  // by device, where tensors go to the host and come back
  std::vector<Segment> segments_;
  std::size_t slot_ = 0;                         // of the latest run
  std::vector<std::vector<std::byte*>> places_;  // by recording, of inputs that are read in place
  std::size_t oldest_places_ = 0;
  std::size_t recording_ = 0;  // of the latest run, in segments that read inputs
  bool worth_recording_ = true;
  InputFeed feed_;
};

}  // namespace gpubench
