// The node that map() makes, for the stages that can do its work better than by asking it for elements.
#pragma once
#include <memory>
#include <vector>

#include "core/data/map/map.h"

namespace gpubench {

class MapDataset final : public Transformation {
 public:
  MapDataset(DatasetPtr source, std::shared_ptr<const ElementFunction> function, const MapOptions& options);

  std::string_view stage() const override { return "map"; }
  Effect effect() const override { return Effect::one_to_one; }
  DatasetPtr with_source(DatasetPtr source) const override;
  std::string settings() const override;
  const std::vector<TensorType>& element_types() const override { return types_; }
  const DeviceId* device() const override { return apart_ ? &options_.place->id : nullptr; }
  bool in_order(std::optional<bool> deterministic) const override;
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override;

  const Dataset& inputs() const { return source(); }
  const std::shared_ptr<const ElementFunction>& function() const { return function_; }
  const MapOptions& options() const { return options_; }

 private:
  std::shared_ptr<const ElementFunction> function_;
  std::vector<TensorType> types_;
  MapOptions options_;
  bool apart_;  // on a device with memory of its own
};

/// An epoch of batch(map, size), where each worker makes whole batches.
std::unique_ptr<Cursor> open_mapped_batches(const MapDataset& map, std::int64_t size, bool drop_remainder,
                                            std::uint64_t epoch, const CursorOptions& options);

}  // namespace gpubench
