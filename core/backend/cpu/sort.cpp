// Rows are sorted as pairs of a value and its place, which also orders equal values.
#include "core/ops/sort.h"

#include <algorithm>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/widened.h"
#include "core/base/align.h"

namespace gpubench::cpu {
namespace {

template <class T>
struct PlacedValue {
  T value;
  std::int64_t place;
};

/// Before b in the order: what is not a number is the largest, and equal values keep their order.
template <class T>
bool precedes(const PlacedValue<T>& a, const PlacedValue<T>& b, bool descending) {
  const PlacedValue<T>&low = descending ? b : a, &high = descending ? a : b;
  if (low.value < high.value) return true;
  if (high.value < low.value) return false;
  const bool low_is_number = low.value == low.value, high_is_number = high.value == high.value;
  return low_is_number == high_is_number ? a.place < b.place : low_is_number;
}

template <class T>
class SortLoop {
 public:
  SortLoop(const Sort& op, const Signature& signature)
      : descending_(op.descending),
        extent_(signature.inputs[0].shape.back()),
        kept_(signature.outputs[0].shape.back()),
        rows_(kept_ == 0 ? 0 : signature.outputs[0].elements() / kept_),
        threads_(threads_for(rows_, static_cast<std::int64_t>(op.flops(signature.inputs, signature.outputs)) * cost)) {}

  std::size_t workspace_bytes() const { return static_cast<std::size_t>(threads_) * thread_bytes(); }

  void operator()(Views inputs, Views outputs, std::span<std::byte> workspace) const {
    parallel_ranges(threads_, rows_, [&](int thread, std::int64_t begin, std::int64_t end) {
      auto* const row =
          reinterpret_cast<PlacedValue<T>*>(workspace.data() + static_cast<std::size_t>(thread) * thread_bytes());
      for (std::int64_t r = begin; r < end; ++r) {
        sort(inputs[0].as<T>() + r * extent_, row);
        for (std::int64_t i = 0; i < kept_; ++i) {
          outputs[0].as<T>()[r * kept_ + i] = row[i].value;
          outputs[1].as<std::int64_t>()[r * kept_ + i] = row[i].place;
        }
      }
    });
  }

 private:
  static constexpr std::int64_t cost = 8;  // of a comparison, which is guessed wrong every other time

  std::size_t thread_bytes() const {
    constexpr std::size_t alignment = 64;
    return align_up(static_cast<std::size_t>(extent_) * sizeof(PlacedValue<T>), alignment);
  }

  void sort(const T* from, PlacedValue<T>* row) const {
    for (std::int64_t i = 0; i < extent_; ++i) row[i] = {from[i], i};
    const auto before = [this](const auto& a, const auto& b) { return precedes(a, b, descending_); };
    if (kept_ < extent_) {
      std::partial_sort(row, row + kept_, row + extent_, before);
    } else {
      std::sort(row, row + extent_, before);
    }
  }

  bool descending_;
  std::int64_t extent_, kept_, rows_;
  int threads_;
};

std::unique_ptr<Kernel> plan_sort(const Sort& op, const Signature& signature, Device&) {
  return dispatch(Numbers{}, op.name(), signature.inputs[0].dtype, [&]<class T>() {
    SortLoop<T> loop(op, signature);
    const std::size_t workspace_bytes = loop.workspace_bytes();
    return loop_kernel(std::move(loop), workspace_bytes);
  });
}

}  // namespace

void add_sort(KernelTable& table) {
  add_float32_row<&plan_sort>(table);
}

}  // namespace gpubench::cpu
