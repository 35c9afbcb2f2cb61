#include "core/exec/graph_executor.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/exec/bound_step.h"

namespace gpubench {
namespace {

constexpr std::size_t labels_in_message = 5;

/// The planned tensors that take most of the memory, for an out-of-memory message.
std::string largest_buffers(const Plan& plan) {
  std::vector<const PlannedBuffer*> buffers;
  for (const PlannedBuffer& buffer : plan.buffers) buffers.push_back(&buffer);
  const std::size_t shown = std::min(labels_in_message, buffers.size());
  std::partial_sort(buffers.begin(), buffers.begin() + static_cast<std::ptrdiff_t>(shown), buffers.end(),
                    [](const auto* a, const auto* b) { return a->lifetime.bytes > b->lifetime.bytes; });
  std::string text = "the plan's largest tensors:";
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", buffers[i]->label,
                        format_bytes(static_cast<double>(buffers[i]->lifetime.bytes)));
  }
  return text;
}

}  // namespace

/// Launches [first, last): kernels of one device, exchanges of its replica by the host, or one copy to it.
struct GraphExecutor::Segment {
  std::size_t first = 0, last = 0;
  std::size_t device = 0;
  bool reads_input = false;
  std::int64_t exchanges = 0;
  double exchanged = 0;            // bytes, by these
  std::vector<std::size_t> joins;  // launches that begin copies which the segment's end waits for
  enum class State : std::uint8_t { fresh, loaded, direct } state = State::fresh;
  std::vector<std::unique_ptr<Recording>> recordings;  // by slot or place of the inputs; one where none is read
};

struct GraphExecutor::Input {
  const TensorType* type = nullptr;
  std::size_t device = 0;
  std::byte* bound = nullptr;                  // what the views point to now
  std::array<std::byte*, slot_count> given{};  // in place: what the latest runs were given, by slot
  struct Reader {
    std::size_t view = 0, offset = 0;  // index into views_; bytes into the input
  };
  std::vector<Reader> readers;
  std::array<Buffer, slot_count> copies;  // on devices that cannot read host memory in place
  bool copied() const { return copies[0].data() != nullptr; }
};

/// Where a device's tensors travel beside its kernels: a stream each way, as links have.
struct GraphExecutor::SideStreams {
  std::unique_ptr<Stream> to_host, from_host;

  /// For destructors; kernels have joined all copies unless a run broke off.
  void drain() const noexcept {
    for (Stream* const stream : {to_host.get(), from_host.get()}) {
      try {
        if (stream != nullptr) stream->synchronize();
      } catch (const DeviceError&) {
      }
    }
  }
};

/// How inputs reach a device with memory of its own.
struct GraphExecutor::Feed {
  std::size_t device = 0;
  std::unique_ptr<Stream> copies;  // null: inputs on the device, which are read there or copied in its kernels' order
  std::array<std::unique_ptr<Event>, slot_count> filled;   // the slot's inputs have arrived
  std::array<std::unique_ptr<Event>, slot_count> drained;  // the run that read the slot is done
};

GraphExecutor::GraphExecutor(Runtime& runtime, const Program& program, InputFeed feed, Communicator* communicator)
    : runtime_(runtime), communicator_(communicator), plan_(make_plan(program, runtime.devices())), feed_(feed) {
  for (const DeviceId& id : plan_.devices) {
    devices_.push_back(&runtime.devices().device(id));
    streams_.push_back(&runtime.stream(id));
  }
  try {
    claim_memory();
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(fmt::format("{}; {}", error.what(), largest_buffers(plan_)));
  }
  run_once_steps();
  watch_variables();
  bind(false);
}

GraphExecutor::~GraphExecutor() {
  for (const SideStreams& streams : side_streams_) streams.drain();
  runtime_.drain();
}

void GraphExecutor::claim_memory() {
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    arenas_.push_back(runtime_.claim_arena(plan_.devices[d], plan_.arena_bytes[d], "arena"));
  }
  host_arenas_.resize(devices_.size());
  side_streams_.resize(devices_.size());
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    if (plan_.host_bytes[d] == 0) continue;
    host_arenas_[d] = runtime_.claim_host_arena(plan_.devices[d], plan_.host_bytes[d], "offloaded activations");
    side_streams_[d] = {devices_[d]->new_stream(), devices_[d]->new_stream()};
  }
  constants_.resize(plan_.constants.size());
  for (const PlannedTensor& tensor : plan_.tensors) {
    if (tensor.home != Home::constant && tensor.home != Home::kept) continue;
    Buffer& buffer = constants_[static_cast<std::size_t>(tensor.index)];
    if (buffer.data() != nullptr) continue;
    buffer = devices_[tensor.device]->memory().allocate(tensor.type.bytes(), tensor.label);
    const HostTensor& value = plan_.constants[static_cast<std::size_t>(tensor.index)];
    if (!value.empty()) streams_[tensor.device]->copy(buffer.data(), value.data(), value.bytes());
  }
  inputs_.resize(plan_.inputs.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (plan_.inputs[i] >= 0) claim_input(i);
  }
}

void GraphExecutor::claim_input(std::size_t index) {
  const PlannedTensor& tensor = plan_.tensors[static_cast<std::size_t>(plan_.inputs[index])];
  Input& input = inputs_[index];
  input.type = &tensor.type;
  input.device = tensor.device;
  Device& device = *devices_[tensor.device];
  if (device.shares_host_memory()) return;
  for (int slot = 0; slot < feed_.slots && !feed_.in_place; ++slot) {
    input.copies[static_cast<std::size_t>(slot)] = device.memory().allocate(tensor.type.bytes(), tensor.label);
  }
  input.bound = input.copies[slot_].data();
  if (std::any_of(feeds_.begin(), feeds_.end(), [&](const Feed& feed) { return feed.device == tensor.device; })) return;
  Feed feed{.device = tensor.device, .copies = nullptr, .filled = {}, .drained = {}};
  if (!feed_.on_device) feed.copies = device.new_stream();
  for (auto& event : feed.filled) event = device.new_event();
  for (auto& event : feed.drained) {
    event = device.new_event();
    // The slots' memory may still be in use by what it belonged to before.
    device.stream().record(*event);
  }
  feeds_.push_back(std::move(feed));
}

std::byte* GraphExecutor::address(int index) const {
  const PlannedTensor& tensor = plan_.tensors[static_cast<std::size_t>(index)];
  const auto at = static_cast<std::size_t>(tensor.index);
  switch (tensor.home) {
    case Home::input:
      // Unknown before the first run, which points its readers.
      return inputs_[at].bound == nullptr ? nullptr : inputs_[at].bound + tensor.offset;
    case Home::variable:
      return runtime_.variables().view(*plan_.variables[at]).data + tensor.offset;
    case Home::constant:
    case Home::kept:
      return constants_[at].data() + tensor.offset;
    case Home::arena:
      return arenas_[tensor.device].data() + plan_.buffers[at].offset + tensor.offset;
    case Home::host:
      return host_arenas_[tensor.device].data() + plan_.buffers[at].offset + tensor.offset;
  }
  return nullptr;
}

void GraphExecutor::bind(bool once) {
  recordings_ = runtime_.recordings();
  places_.clear();
  oldest_places_ = 0;
  generations_.clear();
  for (const auto* arenas : {&arenas_, &host_arenas_}) {
    for (const Arena::Claim& arena : *arenas) generations_.push_back(arena.generation());
  }
  std::size_t count = 0;
  for (const PlannedStep& step : plan_.steps) count += step.inputs.size() + step.outputs.size();
  views_.clear();
  views_.reserve(count);  // the launches hold spans into it
  launches_.clear();
  launches_.reserve(plan_.steps.size());
  for (Input& input : inputs_) input.readers.clear();

  if (once) bind_steps(Due::once);
  on_change_ = 0;
  if (!once) {
    bind_steps(Due::on_change);
    on_change_ = launches_.size();
    bind_steps(Due::every_run);
  }
  cut_segments();
}

void GraphExecutor::bind_steps(Due due) {
  for (const PlannedStep& step : plan_.steps) {
    if (step.due != due) continue;
    const std::size_t first = views_.size();
    for (const int tensor : step.inputs) {
      const PlannedTensor& planned = plan_.tensors[static_cast<std::size_t>(tensor)];
      if (planned.home == Home::input)
        inputs_[static_cast<std::size_t>(planned.index)].readers.push_back({views_.size(), planned.offset});
      views_.push_back({&planned.type, address(tensor)});
    }
    for (const int tensor : step.outputs) {
      views_.push_back({&plan_.tensors[static_cast<std::size_t>(tensor)].type, address(tensor)});
    }
    BoundStep launch;
    launch.kernel = step.kernel.get();
    launch.device = step.device;
    launch.inputs = {views_.data() + first, step.inputs.size()};
    launch.outputs = {views_.data() + first + step.inputs.size(), step.outputs.size()};
    if (step.workspace >= 0) {
      const PlannedBuffer& buffer = plan_.buffers[static_cast<std::size_t>(step.workspace)];
      launch.workspace = {arenas_[step.device].data() + buffer.offset, step.workspace_bytes};
    }
    if (step.work == Work::begin || step.work == Work::end) bind_side_copy(step, launch);
    bind_exchange(step, launch);
    if (step.work == Work::transfer) {
      Device& source = *devices_[plan_.tensors[static_cast<std::size_t>(step.inputs[0])].device];
      launch.copy = std::make_unique<DeviceCopy>(source, *devices_[step.device]);
    }
    launch.reads_input = std::any_of(step.inputs.begin(), step.inputs.end(), [&](int tensor) {
      return plan_.tensors[static_cast<std::size_t>(tensor)].home == Home::input;
    });
    launches_.push_back(std::move(launch));
  }
}

void GraphExecutor::bind_side_copy(const PlannedStep& step, BoundStep& launch) {
  if (step.work == Work::begin) {
    const SideStreams& streams = side_streams_[step.device];
    const bool away = plan_.tensors[static_cast<std::size_t>(step.outputs[0])].home == Home::host;
    launch.side_copy = std::make_unique<SideCopy>(*devices_[step.device], away ? *streams.to_host : *streams.from_host);
    return;
  }
  launch.ends = index_of_begin(launch);
}

void GraphExecutor::bind_exchange(const PlannedStep& step, BoundStep& launch) {
  const bool ends = step.work == Work::exchange_end;
  if (ends) launch.ends = index_of_begin(launch);
  const bool at_once = step.work == Work::exchange || step.work == Work::exchange_max;
  if (!ends && !at_once && step.work != Work::exchange_begin) return;
  launch.by_host = !communicator_->recordable();
  if (ends) return;
  Collective collective;
  if (step.work == Work::exchange_max) collective.reduction = Reduction::max;
  collective.tensors.assign(launch.outputs.begin(), launch.outputs.end());
  launch.exchanged = static_cast<double>(collective.bytes());
  if (at_once) {
    launch.exchange = std::move(collective);
  } else {
    launch.side_exchange = communicator_->beside(std::move(collective));
  }
}

std::size_t GraphExecutor::index_of_begin(const BoundStep& end) const {
  const auto begun = std::ranges::find_if(launches_.rbegin(), launches_.rend(), [&](const BoundStep& earlier) {
    return earlier.begins() && earlier.outputs[0].data == end.outputs[0].data;
  });
  assert(begun != launches_.rend());
  return static_cast<std::size_t>(launches_.rend() - begun) - 1;
}

void GraphExecutor::cut_segments() {
  segments_.clear();
  for (std::size_t index = on_change_; index < launches_.size(); ++index) {
    const BoundStep& launch = launches_[index];
    const bool copy = launch.copy != nullptr;
    const BoundStep* const first = segments_.empty() ? nullptr : &launches_[segments_.back().first];
    const bool joins = first != nullptr && !copy && first->device == launch.device && first->copy == nullptr &&
                       first->by_host == launch.by_host;
    if (!joins) {
      segments_.emplace_back();
      segments_.back().first = index;
      segments_.back().device = launch.device;
      if (copy || launch.by_host) segments_.back().state = Segment::State::direct;
    }
    segments_.back().last = index + 1;
    segments_.back().reads_input |= launch.reads_input;
    segments_.back().exchanges += launch.exchanges() ? 1 : 0;
    segments_.back().exchanged += launch.exchanged;
  }
  for (Segment& segment : segments_) join_copies(segment);
}

void GraphExecutor::join_copies(Segment& segment) {
  std::set<std::size_t> begun;
  for (std::size_t index = segment.first; index < segment.last; ++index) {
    BoundStep& launch = launches_[index];
    if (launch.by_host) continue;  // what the host begins may end in another segment: neither is recorded
    if (launch.begins()) begun.insert(index);
    if (launch.ends != BoundStep::none && begun.erase(launch.ends) == 0) launch.ends = BoundStep::none;
  }
  segment.joins.assign(begun.begin(), begun.end());
}

void GraphExecutor::run_once_steps() {
  bind(true);
  for (Segment& segment : segments_) run_segment(segment);
  runtime_.synchronize();
}

void GraphExecutor::watch_variables() {
  const VariableStore& store = runtime_.variables();
  std::set<int> watched, updated;
  for (const PlannedStep& step : plan_.steps) {
    const auto variables_among = [&](const std::vector<int>& tensors, std::set<int>& found) {
      for (const int tensor : tensors) {
        const PlannedTensor& planned = plan_.tensors[static_cast<std::size_t>(tensor)];
        if (planned.home == Home::variable) found.insert(planned.index);
      }
    };
    if (step.due == Due::on_change) variables_among(step.inputs, watched);
    variables_among(step.outputs, updated);
  }
  constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  for (const int index : watched)
    watched_.push_back({&store.writes(*plan_.variables[static_cast<std::size_t>(index)]), never});
  for (const int index : updated) updated_.push_back(&store.writes(*plan_.variables[static_cast<std::size_t>(index)]));
}

void GraphExecutor::run_changed_steps() {
  bool changed = false;
  for (Watched& variable : watched_) {
    const std::uint64_t writes = variable.writes->load(std::memory_order_relaxed);
    changed = changed || variable.seen != writes;
    variable.seen = writes;
  }
  if (!changed) return;
  for (std::size_t i = 0; i < on_change_; ++i) {
    devices_[launches_[i].device]->bind_to_thread();
    launch(launches_[i], *streams_[launches_[i].device]);
  }
}

void GraphExecutor::set_inputs(std::span<const TensorView> inputs) {
  assert(inputs.size() >= inputs_.size());
  if (!feeds_.empty()) fill_slots(inputs);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    Input& input = inputs_[i];
    if (input.type == nullptr) continue;
    assert(*inputs[i].type == *input.type);
    if (!input.copied()) point(input, inputs[i].data);
    input.given[slot_] = inputs[i].data;
  }
  point_to_slots();
}

void GraphExecutor::point_to_slots() {
  const bool in_place = feed_.in_place && !feeds_.empty();
  for (Input& input : inputs_) {
    if (input.copied()) point(input, input.copies[slot_].data());
    if (in_place && input.type != nullptr) point(input, input.given[slot_]);
  }
  recording_ = slot_;
  if (in_place) find_places();
}

void GraphExecutor::find_places() {
  const auto same = [&](const std::vector<std::byte*>& places) {
    return std::ranges::equal(places, inputs_, {}, {}, &Input::bound);
  };
  const auto known = std::ranges::find_if(places_, same);
  worth_recording_ = known != places_.end();
  recording_ = static_cast<std::size_t>(known - places_.begin());
  if (worth_recording_) return;
  if (places_.size() < most_places) {
    places_.emplace_back();
  } else {
    recording_ = oldest_places_;
    oldest_places_ = (oldest_places_ + 1) % most_places;
    forget_recordings(recording_);
  }
  places_[recording_].clear();
  for (const Input& input : inputs_) places_[recording_].push_back(input.bound);
}

void GraphExecutor::forget_recordings(std::size_t index) {
  for (Segment& segment : segments_) {
    if (!segment.reads_input || index >= segment.recordings.size() || segment.recordings[index] == nullptr) continue;
    streams_[segment.device]->synchronize();  // it may run
    segment.recordings[index].reset();
  }
}

void GraphExecutor::next_slot() {
  slot_ = (slot_ + 1) % static_cast<std::size_t>(feed_.slots);
  for (const Feed& feed : feeds_) feed.drained[slot_]->wait();
}

void GraphExecutor::point(Input& input, std::byte* memory) {
  if (input.bound == memory) return;
  input.bound = memory;
  for (const auto& [view, offset] : input.readers) views_[view].data = memory + offset;
}

void GraphExecutor::fill_slots(std::span<const TensorView> inputs) {
  next_slot();
  for (const Feed& feed : feeds_) {
    devices_[feed.device]->bind_to_thread();
    Stream& stream = feed.copies != nullptr ? *feed.copies : *streams_[feed.device];
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Input& input = inputs_[i];
      if (!input.copied() || input.device != feed.device) continue;
      stream.copy(input.copies[slot_].data(), inputs[i].data, input.type->bytes());
    }
    if (feed.copies == nullptr) continue;
    stream.record(*feed.filled[slot_]);
    streams_[feed.device]->wait_for(*feed.filled[slot_]);
  }
}

void GraphExecutor::run_segment(Segment& segment) {
  Device& device = *devices_[segment.device];
  Stream& stream = *streams_[segment.device];
  device.bind_to_thread();
  const std::size_t index = segment.reads_input ? recording_ : 0;
  if (segment.recordings.size() <= index) segment.recordings.resize(index + 1);
  std::unique_ptr<Recording>& recording = segment.recordings[index];
  const bool worth = worth_recording_ || !segment.reads_input;
  if (segment.state == Segment::State::loaded && recording == nullptr && worth) {
    recording = device.record([&](Stream& recorder) { launch(segment, recorder); });
    if (recording == nullptr) segment.state = Segment::State::direct;
  }
  if (recording != nullptr) {
    recording->launch(stream);
    if (segment.exchanges > 0) communicator_->launched(stream, segment.exchanges, segment.exchanged);
    return;
  }
  launch(segment, stream);
  if (segment.state == Segment::State::fresh) segment.state = Segment::State::loaded;
}

void GraphExecutor::launch(const Segment& segment, Stream& stream) {
  for (std::size_t i = segment.first; i < segment.last; ++i) launch(launches_[i], stream);
  for (const std::size_t begun : segment.joins) launches_[begun].join(stream);
}

void GraphExecutor::launch(const BoundStep& launch, Stream& stream) {
  if (launch.kernel != nullptr) {
    launch.kernel->run(stream, launch.inputs, launch.outputs, launch.workspace);
    return;
  }
  if (launch.ends != BoundStep::none) launches_[launch.ends].join(stream);
  if (launch.exchange) communicator_->run(*launch.exchange, stream);
  if (launch.side_exchange != nullptr) launch.side_exchange->begin(stream);
  if (launch.copy == nullptr && launch.side_copy == nullptr) return;
  std::byte* const to = launch.outputs[0].data;
  const std::byte* const from = launch.inputs[0].data;
  const std::size_t bytes = launch.inputs[0].type->bytes();
  if (launch.copy != nullptr) launch.copy->queue(to, from, bytes);
  if (launch.side_copy != nullptr) launch.side_copy->begin(stream, to, from, bytes);
}

bool GraphExecutor::outdated() const {
  if (recordings_ != runtime_.recordings()) return true;
  std::size_t known = 0;
  for (const auto* arenas : {&arenas_, &host_arenas_}) {
    for (const Arena::Claim& arena : *arenas) {
      if (arena.generation() != generations_[known++]) return true;
    }
  }
  return false;
}

void GraphExecutor::run(std::span<const TensorView> inputs) {
  if (outdated()) bind(false);
  set_inputs(inputs);
  run_segments();
}

void GraphExecutor::run_again() {
  if (outdated()) bind(false);
  if (!feeds_.empty()) next_slot();
  point_to_slots();
  run_segments();
}

void GraphExecutor::wait_for_inputs() {
  for (const Feed& feed : feeds_) (feed.copies != nullptr ? *feed.copies : *streams_[feed.device]).synchronize();
}

void GraphExecutor::run_segments() {
  for (const Segment& segment : segments_) {  // a copy is a segment of its own
    const BoundStep& launch = launches_[segment.first];
    if (launch.copy != nullptr) launch.copy->release_source();  // which this run overwrites
  }
  run_changed_steps();
  for (Segment& segment : segments_) run_segment(segment);
  for (std::atomic<std::uint64_t>* const writes : updated_) writes->fetch_add(1, std::memory_order_relaxed);
  for (const Feed& feed : feeds_) streams_[feed.device]->record(*feed.drained[slot_]);
}

TensorView GraphExecutor::result(int index) const {
  const int tensor = plan_.outputs[static_cast<std::size_t>(index)];
  return {&plan_.tensors[static_cast<std::size_t>(tensor)].type, address(tensor)};
}

HostTensor GraphExecutor::read(int index) {
  const TensorView view = result(index);
  HostTensor value(*view.type);
  const std::size_t device =
      plan_.tensors[static_cast<std::size_t>(plan_.outputs[static_cast<std::size_t>(index)])].device;
  streams_[device]->copy(value.data(), view.data, value.bytes());
  streams_[device]->synchronize();
  if (communicator_ != nullptr) communicator_->check();
  return value;
}

}  // namespace gpubench
