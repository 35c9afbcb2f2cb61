#include "tests/core/comm/local/ranks.h"

#include <cstring>

#include "core/comm/local/local_communicator.h"
#include "core/math/half.h"
#include "tests/support/run_ranks.h"

namespace gpubench {
namespace {

float number(int rank, std::int64_t i) {
  const auto bits = static_cast<std::uint32_t>((i + 1) * 2654435761 + rank * 40503);
  return (static_cast<float>(bits % 2001) - 1000) / 97;
}

}  // namespace

Ranks::Ranks(int size, std::optional<LocalAlgorithm> all_reduce)
    : Ranks(std::vector<int>(static_cast<std::size_t>(size)), all_reduce) {}

Ranks::Ranks(std::vector<int> node_of_rank, std::optional<LocalAlgorithm> all_reduce)
    : communicators(make_local_communicators(std::move(node_of_rank), all_reduce)) {}

std::vector<std::string> Ranks::run(const std::function<void(int)>& body) {
  return support::run_ranks(size(), body);
}

TensorView Tensors::add(TensorType type) {
  const std::size_t units = type.bytes() / sizeof(std::max_align_t) + 1;
  all_.push_back(std::make_unique<One>(One{std::move(type), std::vector<std::max_align_t>(units)}));
  return views().back();
}

std::vector<TensorView> Tensors::views() {
  std::vector<TensorView> views;
  for (const auto& one : all_) views.push_back({&one->type, reinterpret_cast<std::byte*>(one->memory.data())});
  return views;
}

std::vector<std::byte> Tensors::bytes() const {
  std::vector<std::byte> bytes;
  for (const auto& one : all_) {
    const auto* const data = reinterpret_cast<const std::byte*>(one->memory.data());
    bytes.insert(bytes.end(), data, data + one->type.bytes());
  }
  return bytes;
}

void fill(const TensorView& tensor, int rank) {
  for (std::int64_t i = 0; i < tensor.elements(); ++i) set(tensor, i, number(rank, i));
}

void set(const TensorView& tensor, std::int64_t i, float x) {
  switch (tensor.type->dtype) {
    case Dtype::f32:
      tensor.as<float>()[i] = x;
      break;
    case Dtype::f16:
      reinterpret_cast<math::Float16*>(tensor.data)[i] = math::to_float16(x);
      break;
    case Dtype::bf16:
      reinterpret_cast<math::Bfloat16*>(tensor.data)[i] = math::to_bfloat16(x);
      break;
    case Dtype::i64:
      tensor.as<std::int64_t>()[i] = static_cast<std::int64_t>(x);
      break;
    case Dtype::i32:
      tensor.as<std::int32_t>()[i] = static_cast<std::int32_t>(x);
      break;
    default:
      tensor.data[i] = static_cast<std::byte>(static_cast<int>(x));
      break;
  }
}

}  // namespace gpubench
