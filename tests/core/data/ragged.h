// Elements whose extents vary: element i is uint8[i % 4 + 1] of the byte i.
#pragma once
#include <algorithm>

#include "core/data/dataset.h"

namespace gpubench {

class Ragged final : public Dataset {
 public:
  explicit Ragged(std::int64_t count) : count_(count) {}
  std::string_view stage() const override { return "ragged"; }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::optional<std::int64_t> size() const override { return count_; }
  std::unique_ptr<Cursor> open(std::uint64_t, const CursorOptions&) const override {
    class RaggedCursor final : public Cursor {
     public:
      explicit RaggedCursor(std::int64_t count) : count_(count) {}
      bool next(Element& element) override {
        if (position_ == count_) return false;
        element.assign(1, HostTensor(TensorType{{position_ % 4 + 1}, Dtype::u8}));
        std::ranges::fill(element[0].values<std::uint8_t>(), static_cast<std::uint8_t>(position_));
        ++position_;
        return true;
      }
      std::vector<StageStatistics> statistics() const override { return {{.stage = "ragged"}}; }

     private:
      std::int64_t count_;
      std::int64_t position_ = 0;
    };
    return std::make_unique<RaggedCursor>(count_);
  }

 private:
  std::int64_t count_;
  std::vector<TensorType> types_{{{varying}, Dtype::u8}};
};

inline DatasetPtr ragged(std::int64_t count) {
  return std::make_shared<Ragged>(count);
}

}  // namespace gpubench
