#include "core/experiment/collectives/collective_values.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/math/half.h"

namespace gpubench {
namespace {

constexpr int givers = 4;
constexpr std::int64_t numbers = 7;  // no power of two, so that swapped pieces differ

int number_at(std::int64_t i) {
  return static_cast<int>(1 + i % numbers);
}

/// Calls visit(elements, encode): a pointer of the storage type of `dtype`, and how it represents a number.
template <class Visit>
void visit_as(const TensorView& tensor, const Visit& visit) {
  std::byte* const data = tensor.data;
  switch (tensor.type->dtype) {
    case Dtype::f32:
      return visit(reinterpret_cast<float*>(data), [](int x) { return static_cast<float>(x); });
    case Dtype::i32:
      return visit(reinterpret_cast<std::int32_t*>(data), [](int x) { return x; });
    case Dtype::i64:
      return visit(reinterpret_cast<std::int64_t*>(data), [](int x) { return std::int64_t{x}; });
    case Dtype::f16:
      return visit(reinterpret_cast<std::uint16_t*>(data),
                   [](int x) { return math::to_float16(static_cast<float>(x)).bits; });
    case Dtype::bf16:
      return visit(reinterpret_cast<std::uint16_t*>(data),
                   [](int x) { return math::to_bfloat16(static_cast<float>(x)).bits; });
    default:
      throw Error(
          fmt::format("measure.collective: no numbers of type {} are exchanged (possible: float32, float16, "
                      "bfloat16, int64, int32)",
                      to_string(tensor.type->dtype)));
  }
}

}  // namespace

int collective_input(int rank, int ranks, std::int64_t i) {
  return (i + rank) % ranks < givers ? number_at(i) : 0;
}

int collective_sum(int ranks, std::int64_t i) {
  return std::min(ranks, givers) * number_at(i);
}

void write_numbers(const TensorView& tensor, const NumberAt& number) {
  visit_as(tensor, [&](auto* elements, const auto& stored) {
    for (std::int64_t i = 0; i < tensor.elements(); ++i) elements[i] = stored(number(i));
  });
}

std::int64_t count_wrong(const TensorView& tensor, const NumberAt& expected) {
  std::int64_t wrong = 0;
  visit_as(tensor, [&](const auto* elements, const auto& stored) {
    for (std::int64_t i = 0; i < tensor.elements(); ++i) wrong += elements[i] != stored(expected(i));
  });
  return wrong;
}

}  // namespace gpubench
