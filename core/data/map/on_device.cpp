#include "core/data/map/on_device.h"

#include <array>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"
#include "core/data/device/upload.h"
#include "core/data/element/block_pool.h"
#include "core/data/function/block_function.h"
#include "core/data/function/graph_function.h"
#include "core/exec/plan_cache.h"
#include "core/exec/run/in_place_program.h"
#include "core/exec/step_fence.h"

namespace gpubench {
namespace {

/// Copies the elements' numbers to the device, with one place for each run that may be active.
class NumberFeed {
 public:
  explicit NumberFeed(Device& device) : device_(device) {
    for (Buffer& number : there_) number = device.memory().allocate(sizeof(std::int64_t), "element number");
    for (Buffer& number : here_) number = device.host_memory()->allocate(sizeof(std::int64_t), "element number");
  }
  /// The number's address on the device, valid until as many more have been sent.
  std::byte* send(std::int64_t number) {
    turn_ = (turn_ + 1) % places;
    std::memcpy(here_[turn_].data(), &number, sizeof number);
    device_.stream().copy(there_[turn_].data(), here_[turn_].data(), sizeof number);
    return there_[turn_].data();
  }

 private:
  static constexpr std::size_t places = StepFence::steps_in_flight;
  Device& device_;
  std::array<Buffer, places> there_, here_;
  std::size_t turn_ = 0;
};

class DeviceMapCursor final : public Cursor {
 public:
  DeviceMapCursor(const DatasetPtr& inputs, std::shared_ptr<const ElementFunction> function, const DevicePlace& place,
                  std::uint64_t epoch, const CursorOptions& options)
      : function_(std::move(function)),
        place_(place),
        device_(place_.device()),
        numbers_(element_numbers(epoch, *inputs)),
        pool_(&device_.memory()),
        feed_(device_),
        source_(inputs->device() != nullptr ? inputs->open(epoch, options)
                                            : open_uploaded(inputs, place_, epoch, options)) {
    fence_.add(device_);
  }
  ~DeviceMapCursor() override {
    try {
      fence_.wait();
    } catch (const DeviceError&) {
      return;  // a device that has failed cannot be waited for
    }
  }

  bool next(Element& element) override {
    release(element);
    if (!source_->next(input_)) return false;
    const std::int64_t index = index_++;
    const Stopwatch watch;
    try {
      run(numbers_.of(index), element);
    } catch (...) {
      rethrow_with_place(index, {});  // the inputs are on the device
    }
    release(input_);
    produced_.add(1);
    for (const HostTensor& tensor : element) bytes_.add(static_cast<std::int64_t>(tensor.bytes()));
    busy_.add(watch.elapsed().count());
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    const std::int64_t skipped = source_->skip(count);
    index_ += skipped;
    return skipped;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = source_->statistics();
    stages.push_back({.stage = "map",
                      .produced = produced_.get(),
                      .bytes = bytes_.get(),
                      .busy = Seconds(busy_.get()),
                      .why = fmt::format("on {}; busy is what the host did for it", to_string(place_.id))});
    return stages;
  }

 private:
  void run(std::int64_t number, Element& element) {
    types_.clear();
    for (const HostTensor& tensor : input_) types_.push_back(tensor.type());
    InPlaceProgram& program = *plans_.get(types_, [&](const std::vector<TensorType>& types) {
      return std::make_unique<InPlaceProgram>(*place_.devices, program_of(*function_, types), place_.id);
    });
    fence_.begin_step();
    allocate(program, element);
    inputs_.clear();
    for (const HostTensor& tensor : input_) inputs_.push_back(tensor.data());
    inputs_.push_back(program.reads(inputs_.size()) ? feed_.send(number) : nullptr);
    program.run(inputs_, outputs_);
    fence_.end_step();
  }

  void allocate(const InPlaceProgram& program, Element& element) {
    types_.clear();
    for (std::size_t i = 0; i < program.outputs(); ++i) types_.push_back(program.output_type(i));
    pool_.allocate(types_, element);
    outputs_.clear();
    for (const HostTensor& tensor : element) outputs_.push_back(tensor.data());
    element.device = &device_.id();
  }

  const std::shared_ptr<const ElementFunction> function_;
  const DevicePlace place_;
  Device& device_;
  const ElementNumbers numbers_;
  BlockPool pool_;
  NumberFeed feed_;
  StepFence fence_;
  const std::unique_ptr<Cursor> source_;
  PlanCache<InPlaceProgram> plans_;
  Element input_;
  std::int64_t index_ = 0;
  std::vector<TensorType> types_;
  std::vector<std::byte*> inputs_, outputs_;
  Tally<std::int64_t> produced_;
  Tally<std::int64_t> bytes_;
  Tally<double> busy_;
};

}  // namespace

std::unique_ptr<Cursor> open_device_map(const Dataset& map, std::shared_ptr<const ElementFunction> function,
                                        const DevicePlace& place, std::uint64_t epoch, const CursorOptions& options) {
  require_taker(options, map.stage(), place.id);
  return std::make_unique<DeviceMapCursor>(map.sources().front(), std::move(function), place, epoch, options);
}

}  // namespace gpubench
