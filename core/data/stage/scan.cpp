#include "core/data/stage/scan.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/function/chained_function.h"
#include "core/data/function/single_function.h"
#include "core/data/produced.h"
#include "core/data/tune/pipeline.h"

namespace gpubench {
namespace {

constexpr std::string_view scan_stage = "scan";

std::vector<TensorType> types_of_state(const Element& state) {
  std::vector<TensorType> types;
  for (const HostTensor& tensor : state) types.push_back(tensor.type());
  return types;
}

/// What the function gives. Throws Error unless that begins with the state's types.
std::vector<TensorType> outputs_with_state(std::string_view stage, const ElementFunction& function,
                                           const Element& initial, TensorTypes elements) {
  const std::vector<TensorType> state = types_of_state(initial);
  std::vector<TensorType> inputs = state;
  inputs.insert(inputs.end(), elements.begin(), elements.end());
  std::vector<TensorType> outputs = infer_outputs(function, inputs);
  const bool keeps_state = outputs.size() >= state.size() && std::equal(state.begin(), state.end(), outputs.begin());
  if (keeps_state) return outputs;
  throw Error(fmt::format("{}: the function gives {}; it gives the new state first, which is of {} as the initial one",
                          stage, to_string(outputs), to_string(state)));
}

class ScanCursor final : public StageCursor {
 public:
  ScanCursor(std::unique_ptr<Cursor> source, TensorTypes types, Element initial,
             std::shared_ptr<const ElementFunction> function, const ElementNumbers& numbers, MemoryPool* memory)
      : StageCursor(scan_stage, std::move(source), types),
        state_(std::move(initial)),
        function_(std::move(function), memory),
        numbers_(numbers) {}

  bool next(Element& element) override {
    if (!source_->next(taken_)) return false;
    const Stopwatch watch;
    function_.run({&state_, &taken_}, position_++, numbers_, results_);
    const auto behind = results_.begin() + std::ssize(state_);
    std::swap_ranges(results_.begin(), behind, state_.begin());
    release(element);
    element.assign(std::make_move_iterator(behind), std::make_move_iterator(results_.end()));
    release(taken_);
    produced_.add(element);
    busy_.add(watch.elapsed().count());
    return true;
  }

 private:
  Element state_;
  SingleFunction function_;
  const ElementNumbers numbers_;
  std::int64_t position_ = 0;
  Element taken_;
  Element results_;
};

class ScanDataset final : public Transformation {
 public:
  ScanDataset(DatasetPtr source, Element initial, std::shared_ptr<const ElementFunction> function,
              std::vector<TensorType> types)
      : Transformation(std::move(source)),
        initial_(std::move(initial)),
        function_(std::move(function)),
        types_(std::move(types)) {}
  std::string_view stage() const override { return scan_stage; }
  DatasetPtr with_source(DatasetPtr source) const override { return scan(std::move(source), initial_, function_); }
  bool counts_elements() const override { return true; }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<ScanCursor>(source().open(epoch, options.for_sources()), types_, initial_, function_,
                                        element_numbers(epoch, source()), options.memory);
  }

 private:
  Element initial_;
  std::shared_ptr<const ElementFunction> function_;
  std::vector<TensorType> types_;
};

}  // namespace

DatasetPtr scan(DatasetPtr source, Element initial, std::shared_ptr<const ElementFunction> function) {
  require_host_elements(*source, scan_stage);
  std::vector<TensorType> types = outputs_with_state(scan_stage, *function, initial, source->element_types());
  types.erase(types.begin(), types.begin() + std::ssize(initial));
  if (types.empty()) {
    throw Error("scan: the function gives the new state alone; it gives the new element's tensors behind it");
  }
  return std::make_shared<ScanDataset>(std::move(source), std::move(initial), std::move(function), std::move(types));
}

Element reduce(const Dataset& source, Element initial, std::shared_ptr<const ElementFunction> function) {
  constexpr std::string_view operation = "reduce";
  require_host_elements(source, operation);
  if (source.size() == endless) throw Error("reduce: the dataset never ends; use take");
  const std::vector<TensorType> outputs = outputs_with_state(operation, *function, initial, source.element_types());
  if (outputs.size() != initial.size()) {
    throw Error(fmt::format("reduce: the function gives {}; it gives the new state alone, which is of {}",
                            to_string(outputs), to_string(types_of_state(initial))));
  }
  const std::uint64_t epoch = source.next_epoch();
  const std::unique_ptr<Cursor> elements = open_pipeline(source, epoch, {});
  const ElementNumbers numbers = element_numbers(epoch, source);
  SingleFunction single(std::move(function));
  Element element, results;
  for (std::int64_t i = 0; elements->next(element); ++i) {
    check_interrupt();
    single.run({&initial, &element}, i, numbers, results);
    initial.swap(results);
  }
  return initial;
}

}  // namespace gpubench
