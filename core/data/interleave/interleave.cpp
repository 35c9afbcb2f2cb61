#include "core/data/interleave/interleave.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/file_dataset.h"

namespace gpubench {
namespace {

constexpr std::string_view interleave_stage = "interleave";

std::string settings_text(const InterleaveOptions& settings) {
  return fmt::format("cycle={} block={}{}{}", settings.cycle_length, settings.block_length,
                     settings.parallel == autotune ? " parallel=autotune"
                     : settings.parallel > 0       ? fmt::format(" parallel={}", settings.parallel)
                                                   : "",
                     settings.deterministic.value_or(true) ? "" : " in any order");
}

bool keeps_order(const InterleaveOptions& settings, std::optional<bool> deterministic) {
  return settings.parallel == 0 || settings.deterministic.value_or(deterministic.value_or(true));
}

class InterleaveDataset final : public FileDataset {
 public:
  InterleaveDataset(std::vector<DatasetPtr> inputs, std::vector<TensorType> types, const InterleaveOptions& settings)
      : FileDataset(inputs),
        inputs_(std::make_shared<const std::vector<DatasetPtr>>(std::move(inputs))),
        types_(std::move(types)),
        settings_(settings) {}
  std::string_view stage() const override { return interleave_stage; }
  bool interleaves() const override { return true; }
  std::string settings() const override { return settings_text(settings_); }
  bool in_order(std::optional<bool> deterministic) const override {
    return keeps_order(settings_, deterministic) && Dataset::in_order(deterministic);
  }
  std::span<const DatasetPtr> sources() const override { return *inputs_; }
  /// Each input counts as one file, whatever it reads.
  std::int64_t files() const override {
    const auto reads_files = [](const DatasetPtr& input) { return file_dataset(*input) != nullptr; };
    return std::ranges::all_of(*inputs_, reads_files) ? std::ssize(*inputs_) : 0;
  }
  DatasetPtr every(std::int64_t count, std::int64_t index) const override {
    return std::make_shared<InterleaveDataset>(gpubench::every(*inputs_, count, index), types_, settings_);
  }
  const std::vector<TensorType>& element_types() const override { return types_; }

  std::optional<std::int64_t> size() const override {
    std::int64_t total = 0;
    for (const DatasetPtr& input : *inputs_) {
      const std::optional<std::int64_t> elements = input->size();
      if (!elements) return std::nullopt;
      total = *elements > endless - total ? endless : total + *elements;
    }
    return total;
  }

  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return open_interleaved(*this, inputs_, settings_, epoch, options);
  }

 private:
  Inputs inputs_;
  std::vector<TensorType> types_;
  InterleaveOptions settings_;
};

/// Inputs are made from the elements of a source.
class InterleaveMadeDataset final : public Transformation {
 public:
  InterleaveMadeDataset(DatasetPtr source, InputFunction function, const Dataset& first,
                        const InterleaveOptions& settings)
      : Transformation(std::move(source)),
        function_(std::move(function)),
        types_(first.element_types()),
        examples_(first.examples_per_element()),
        settings_(settings) {}
  std::string_view stage() const override { return interleave_stage; }
  bool interleaves() const override { return true; }
  DatasetPtr with_source(DatasetPtr source) const override {
    return std::make_shared<InterleaveMadeDataset>(std::move(source), function_, *this, settings_);
  }
  std::string settings() const override { return settings_text(settings_); }
  bool in_order(std::optional<bool> deterministic) const override {
    return keeps_order(settings_, deterministic) && Dataset::in_order(deterministic);
  }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::int64_t examples_per_element() const override { return examples_; }
  std::optional<std::int64_t> size() const override { return std::nullopt; }

  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    auto inputs = std::make_shared<std::vector<DatasetPtr>>();
    const std::unique_ptr<Cursor> elements = source().open(epoch, options.for_sources());
    for (Element element; elements->next(element);) {
      check_interrupt();
      if (std::ssize(*inputs) == most_interleaved) {
        throw Error(
            fmt::format("interleave: the source has more than {} elements, for each of which an input would be "
                        "made; take fewer",
                        most_interleaved));
      }
      const DatasetPtr& input = inputs->emplace_back(function_(element));
      require_host_elements(*input, interleave_stage);
      if (common_types(types_, input->element_types()) == types_) continue;
      throw Error(fmt::format("interleave: the function gave a dataset of {} before, and now one of {}",
                              to_string(types_), to_string(input->element_types())));
    }
    return open_interleaved(*this, std::move(inputs), settings_, epoch, options);
  }

 private:
  InputFunction function_;
  std::vector<TensorType> types_;
  std::int64_t examples_;
  InterleaveOptions settings_;
};

void check(const InterleaveOptions& options) {
  if (options.cycle_length < 1) {
    throw Error(fmt::format("interleave: a cycle length of {}; at least 1 is needed", options.cycle_length));
  }
  if (options.block_length < 1) {
    throw Error(fmt::format("interleave: a block length of {}; at least 1 is needed", options.block_length));
  }
  if (options.parallel != autotune && (options.parallel < 0 || options.parallel > most_interleaving_threads)) {
    throw Error(fmt::format("interleave: {} parallel calls; 0 to {} are possible, or AUTOTUNE", options.parallel,
                            most_interleaving_threads));
  }
}

}  // namespace

DatasetPtr interleave(std::vector<DatasetPtr> inputs, const InterleaveOptions& options) {
  for (const DatasetPtr& input : inputs) require_host_elements(*input, "interleave");
  check(options);
  if (inputs.empty()) throw Error("interleave: no datasets given; at least one is needed");
  std::vector<TensorType> types = inputs.front()->element_types();
  for (const DatasetPtr& input : inputs) {
    std::optional<std::vector<TensorType>> common = common_types(types, input->element_types());
    if (!common) {
      throw Error(fmt::format("interleave: elements {} and {} differ in more than their extents", to_string(types),
                              to_string(input->element_types())));
    }
    types = std::move(*common);
  }
  return std::make_shared<InterleaveDataset>(std::move(inputs), std::move(types), options);
}

DatasetPtr interleave(DatasetPtr source, InputFunction function, const InterleaveOptions& options) {
  require_host_elements(*source, "interleave");
  check(options);
  if (source->size() == endless) throw Error("interleave: the source never ends; use take");
  if (source->size() > most_interleaved) {  // not if it is unknown
    throw Error(
        fmt::format("interleave: a source of {} elements, for each of which an input would be made; at most {} "
                    "are possible",
                    *source->size(), most_interleaved));
  }
  Element element;
  if (!source->open()->next(element)) throw Error("interleave: the source is empty");
  const DatasetPtr first = function(element);
  return std::make_shared<InterleaveMadeDataset>(std::move(source), std::move(function), *first, options);
}

}  // namespace gpubench
