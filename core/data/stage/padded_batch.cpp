#include "core/data/stage/padded_batch.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <limits>

#include "core/base/error.h"
#include "core/data/stage/batch.h"
#include "core/math/half.h"
#include "core/tensor/tensor_type.h"

namespace gpubench {
namespace {

constexpr std::string_view padded_batch_stage = "padded_batch";

/// One element of padding in its stored form.
using Padding = std::array<std::byte, 8>;

template <class T>
Padding stored(T value) {
  Padding bytes{};
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <class T>
Padding integer(double value) {
  // The limits of int64 are not doubles: values above 2^63 round to it.
  const bool fits = value >= static_cast<double>(std::numeric_limits<T>::min()) &&
                    (sizeof(T) == 8 ? value < 0x1p63 : value <= static_cast<double>(std::numeric_limits<T>::max()));
  if (!fits || value != static_cast<double>(static_cast<T>(value))) {
    throw Error(fmt::format("padded_batch: {} cannot be stored as {}", value, to_string(dtype_of<T>)));
  }
  return stored(static_cast<T>(value));
}

Padding boolean(double value) {
  if (value != 0 && value != 1) throw Error(fmt::format("padded_batch: {} cannot be stored as bool", value));
  return stored(value != 0);
}

struct Store {
  Dtype dtype;
  Padding (*store)(double);
};

constexpr std::array stores{
    Store{Dtype::f32, [](double value) { return stored(static_cast<float>(value)); }},
    Store{Dtype::f16, [](double value) { return stored(math::to_float16(static_cast<float>(value))); }},
    Store{Dtype::bf16, [](double value) { return stored(math::to_bfloat16(static_cast<float>(value))); }},
    Store{Dtype::i64, &integer<std::int64_t>},
    Store{Dtype::i32, &integer<std::int32_t>},
    Store{Dtype::i16, &integer<std::int16_t>},
    Store{Dtype::i8, &integer<std::int8_t>},
    Store{Dtype::u8, &integer<std::uint8_t>},
    Store{Dtype::boolean, &boolean},
};

/// Throws Error if `dtype` cannot hold the value.
Padding padding_of(double value, Dtype dtype) {
  const auto* found = std::find_if(stores.begin(), stores.end(), [&](const Store& s) { return s.dtype == dtype; });
  if (found == stores.end()) throw Error(fmt::format("padded_batch: no padding for {}", to_string(dtype)));
  return found->store(value);
}

/// Copies tensors of type `from` to the start of tensors of type `to`, which are at least as large, and pads the rest.
/// The arguments must outlive it.
class Padder {
 public:
  Padder(const TensorType& from, const TensorType& to, const Padding& padding)
      : from_(from.shape), to_(to.shape), unit_(size_of(from.dtype)), padding_(padding) {}

  void fill(const std::byte* source, std::byte* target) const { fill(0, source, target); }

 private:
  void fill(std::size_t axis, const std::byte* source, std::byte* target) const;
  void pad(std::byte* target, std::size_t bytes) const;
  /// Bytes of one index along `axis`.
  std::size_t bytes_after(const Shape& shape, std::size_t axis) const;

  const Shape& from_;
  const Shape& to_;
  std::size_t unit_;
  const Padding& padding_;
};

void Padder::fill(std::size_t axis, const std::byte* source, std::byte* target) const {
  const std::size_t inner_from = bytes_after(from_, axis), inner_to = bytes_after(to_, axis);
  if (axis == from_.size() || std::equal(from_.begin() + static_cast<std::ptrdiff_t>(axis), from_.end(),
                                         to_.begin() + static_cast<std::ptrdiff_t>(axis))) {
    std::memcpy(target, source, axis == from_.size() ? unit_ : inner_from * static_cast<std::size_t>(from_[axis]));
    return;
  }
  const auto given = static_cast<std::size_t>(from_[axis]), wanted = static_cast<std::size_t>(to_[axis]);
  if (axis + 1 == from_.size()) {
    std::memcpy(target, source, given * unit_);
  } else {
    for (std::size_t i = 0; i < given; ++i) fill(axis + 1, source + i * inner_from, target + i * inner_to);
  }
  pad(target + given * inner_to, (wanted - given) * inner_to);
}

void Padder::pad(std::byte* target, std::size_t bytes) const {
  const bool zeros = std::all_of(padding_.begin(), padding_.end(), [](std::byte b) { return b == std::byte{0}; });
  if (zeros) {
    std::memset(target, 0, bytes);
    return;
  }
  for (std::size_t i = 0; i < bytes; i += unit_) std::memcpy(target + i, padding_.data(), unit_);
}

std::size_t Padder::bytes_after(const Shape& shape, std::size_t axis) const {
  std::size_t bytes = unit_;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) bytes *= static_cast<std::size_t>(shape[i]);
  return bytes;
}

class PaddedBatchCursor final : public BatchCursor {
 public:
  PaddedBatchCursor(std::unique_ptr<Cursor> source, std::span<const TensorType> types, std::span<const TensorType> rows,
                    std::int64_t size, bool drop_remainder, std::span<const Padding> padding,
                    const CursorOptions& options)
      : BatchCursor(padded_batch_stage, std::move(source), types, size, drop_remainder, options),
        padded_(rows.begin(), rows.end()),
        padding_(padding.begin(), padding.end()) {}

  bool next(Element& element) override {
    const std::int64_t count = gather();
    const bool is_batch = complete(count);
    if (is_batch) {
      const Stopwatch watch;
      stack(count, element);
      produced_.add(element);
      busy_.add(watch.elapsed().count());
    }
    for (Element& row : elements_) release(row);
    return is_batch;
  }

 private:
  std::int64_t gather() {
    std::int64_t count = 0;
    for (; count < size_; ++count) {
      if (static_cast<std::size_t>(count) == elements_.size()) elements_.emplace_back();
      if (!source_->next(elements_[static_cast<std::size_t>(count)])) break;
    }
    return count;
  }

  void stack(std::int64_t count, Element& batch) {
    const std::span rows = std::span(elements_).first(static_cast<std::size_t>(count));
    row_types_ = padded_;
    for (const Element& row : rows) widen(row);
    batch_types_ = row_types_;
    for (TensorType& type : batch_types_) type.shape.insert(type.shape.begin(), count);
    pool_.allocate(batch_types_, batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::byte* target = batch[i].data();
      for (const Element& row : rows) {
        Padder(row[i].type(), row_types_[i], padding_[i]).fill(row[i].data(), target);
        target += row_types_[i].bytes();
      }
    }
  }

  /// Enlarges the batch's row types to include `row`.
  void widen(const Element& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (std::size_t axis = 0; axis < row[i].shape().size(); ++axis) {
        const std::int64_t extent = row[i].shape()[axis], limit = padded_[i].shape[axis];
        if (limit != varying && extent > limit) {
          throw Error(fmt::format("padded_batch: an element has {}, which is larger than the padded {}",
                                  to_string(row[i].type()), to_text(padded_[i])));
        }
        row_types_[i].shape[axis] = std::max(row_types_[i].shape[axis], extent);
      }
    }
  }

  const std::vector<TensorType> padded_;
  const std::vector<Padding> padding_;
  std::vector<Element> elements_;
  std::vector<TensorType> row_types_;
  std::vector<TensorType> batch_types_;
};

class PaddedBatchDataset final : public Batching {
 public:
  PaddedBatchDataset(DatasetPtr source, std::vector<TensorType> rows, std::vector<Padding> padding,
                     const PaddedBatchOptions& options)
      : Batching(std::move(source), options.size, options.drop_remainder),
        row_types_(std::move(rows)),
        padding_(std::move(padding)),
        types_(stacked(row_types_, this->rows())) {}

  std::string_view stage() const override { return padded_batch_stage; }
  DatasetPtr resized(DatasetPtr source, std::int64_t size) const override {
    const PaddedBatchOptions options{.size = size, .drop_remainder = drop_remainder()};
    return std::make_shared<PaddedBatchDataset>(std::move(source), row_types_, padding_, options);
  }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<PaddedBatchCursor>(source().open(epoch, options.for_sources()), types_, row_types_,
                                               batch_size(), drop_remainder(), padding_, options);
  }

 private:
  std::vector<TensorType> row_types_;
  std::vector<Padding> padding_;
  std::vector<TensorType> types_;
};

/// The source's types with the requested extents.
std::vector<TensorType> padded_types(std::span<const TensorType> types, std::span<const Shape> shapes) {
  std::vector<TensorType> padded(types.begin(), types.end());
  if (shapes.empty()) return padded;
  if (shapes.size() != types.size()) {
    throw Error(fmt::format("padded_batch: {} padded shapes for the {} tensors of {}", shapes.size(), types.size(),
                            to_string(types)));
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    padded[i].shape = shapes[i];
    const bool fits = std::equal(shapes[i].begin(), shapes[i].end(), types[i].shape.begin(), types[i].shape.end(),
                                 [](std::int64_t to, std::int64_t from) { return to == varying || to >= from; });
    if (fits) continue;
    throw Error(fmt::format("padded_batch: {} cannot be padded to {}", to_text(types[i]), to_text(padded[i])));
  }
  return padded;
}

}  // namespace

DatasetPtr padded_batch(DatasetPtr source, PaddedBatchOptions options) {
  require_host_elements(*source, "padded_batch");
  require_batch_size("padded_batch", options.size);
  const std::vector<TensorType>& types = source->element_types();
  const std::optional<std::int64_t> elements = source->size();
  if (options.drop_remainder && elements && *elements < options.size) {
    throw Error(fmt::format("padded_batch: a size of {} with drop_remainder leaves nothing of a dataset of {} elements",
                            options.size, *elements));
  }
  if (!options.values.empty() && options.values.size() != types.size()) {
    throw Error(fmt::format("padded_batch: {} padding values for the {} tensors of {}", options.values.size(),
                            types.size(), to_string(types)));
  }
  std::vector<TensorType> rows = padded_types(types, options.shapes);
  std::vector<Padding> padding;
  for (std::size_t i = 0; i < types.size(); ++i) {
    padding.push_back(padding_of(options.values.empty() ? 0.0 : options.values[i], types[i].dtype));
  }
  return std::make_shared<PaddedBatchDataset>(std::move(source), std::move(rows), std::move(padding), options);
}

}  // namespace gpubench
