#include "core/train/class_index_check.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

template <class T>
void check(const ClassIndexCheck& rule, const HostTensor& labels) {
  const auto values = labels.values<T>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto label = static_cast<std::int64_t>(values[i]);
    if (label >= 0 && label < rule.classes) continue;
    throw Error(fmt::format("{}: label {} of example {} is out of range; the model has {} classes, 0 to {}", rule.owner,
                            label, i, rule.classes, rule.classes - 1));
  }
}

}  // namespace

void ClassIndexCheck::operator()(const Element& element) const {
  const HostTensor& labels = element[tensor];
  switch (labels.dtype()) {
    case Dtype::i64:
      return check<std::int64_t>(*this, labels);
    case Dtype::i32:
      return check<std::int32_t>(*this, labels);
    case Dtype::i16:
      return check<std::int16_t>(*this, labels);
    case Dtype::i8:
      return check<std::int8_t>(*this, labels);
    case Dtype::u8:
      return check<std::uint8_t>(*this, labels);
    default:
      return;  // the loss has refused other types when its graph was built
  }
}

}  // namespace gpubench
