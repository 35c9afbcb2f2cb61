#include "core/experiment/kept_elements.h"

#include <utility>

#include "core/base/error.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view stage_name = "kept_elements";

class KeptCursor final : public Cursor {
 public:
  KeptCursor(const std::vector<Element>& elements, std::span<const TensorType> types)
      : elements_(elements), produced_(types) {}

  bool next(Element& element) override {
    element = elements_[position_];
    position_ = (position_ + 1) % elements_.size();
    produced_.add(element);
    return true;
  }
  std::vector<StageStatistics> statistics() const override { return {produced_.row(stage_name)}; }

 private:
  const std::vector<Element>& elements_;
  std::size_t position_ = 0;
  Produced produced_;
};

class KeptDataset final : public Dataset {
 public:
  KeptDataset(std::vector<Element> elements, std::vector<TensorType> types)
      : elements_(std::move(elements)), types_(std::move(types)) {}
  std::string_view stage() const override { return stage_name; }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::optional<std::int64_t> size() const override { return endless; }
  std::unique_ptr<Cursor> open(std::uint64_t /*epoch*/, const CursorOptions& /*options*/) const override {
    return std::make_unique<KeptCursor>(elements_, types_);
  }

 private:
  std::vector<Element> elements_;
  std::vector<TensorType> types_;
};

}  // namespace

std::vector<Element> kept_elements(Cursor& cursor, std::size_t most, std::size_t most_bytes) {
  std::vector<Element> elements;
  std::size_t bytes = 0;
  Element element;
  while (elements.size() < most && bytes < most_bytes && cursor.next(element)) {
    for (const HostTensor& tensor : element) bytes += tensor.bytes();
    elements.push_back(std::exchange(element, {}));
  }
  if (elements.empty()) throw Error("measure.input_proof: the dataset is empty");
  return elements;
}

DatasetPtr over_and_over(std::vector<Element> elements, std::vector<TensorType> types) {
  return std::make_shared<KeptDataset>(std::move(elements), std::move(types));
}

}  // namespace gpubench
