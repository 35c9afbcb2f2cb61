#include "core/data/function/block_function.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <typeinfo>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/data/element/random_fill.h"

namespace gpubench {
namespace {

constexpr std::size_t longest_path = 4096;

bool names_a_file(std::string_view text) {
  if (text.empty() || text.size() > longest_path || text.find('\0') != std::string_view::npos) return false;
  std::error_code ignored;
  return std::filesystem::is_regular_file(text, ignored);
}

/// The first input that is a file's path; empty if there is none.
std::string_view path_among(std::span<const TensorView> inputs) {
  for (const TensorView& input : inputs) {
    if (input.type->dtype != Dtype::u8 || input.type->rank() != 1) continue;
    const std::string_view text(reinterpret_cast<const char*>(input.data), input.type->bytes());
    if (names_a_file(text)) return text;
  }
  return {};
}

}  // namespace

ElementNumbers element_numbers(std::uint64_t epoch, const Dataset& inputs) {
  constexpr int bits_for_an_epoch = 2;  // plus the sign: base + index * stride does not overflow
  const std::uint64_t base = epoch == 0 ? 0 : CounterRandom(0, epoch).bits(0) >> bits_for_an_epoch;
  const std::int64_t examples = inputs.examples_per_element();
  const ElementShare share = inputs.share();
  return {.base = static_cast<std::int64_t>(base) + share.index * examples, .stride = share.count * examples};
}

BlockFunction::BlockFunction(std::shared_ptr<const ElementFunction> function, const Rows* rows)
    : plans_(std::move(function)), rows_(rows) {}

void BlockFunction::start(const InputBlock& block, std::int64_t index) {
  block_ = &block;
  index_ = index;
  position_ = 0;
  singly_until_ = 0;
}

bool BlockFunction::advance(const ElementNumbers& numbers, BlockOutputs& outputs) {
  view(position_);
  try {
    return run(numbers, outputs);
  } catch (...) {
    rethrow_with_place(index_ + position_, views_);
  }
}

bool BlockFunction::run(const ElementNumbers& numbers, BlockOutputs& outputs) {
  ElementRunner& runner = plans_.for_inputs(views_);
  const bool singly = position_ < singly_until_;
  const std::int64_t most = singly ? 1 : std::min(runner.block(), block_->count - position_);
  const bool scattered = runner.takes_scattered();
  const std::int64_t count = most > 1 && !scattered ? alike(most) : most;
  scattered_.clear();
  if (count > 1 && scattered) {
    scatter(count);
  } else if (count > 1 && !consecutive(count)) {
    gather(count);
  }
  outputs.begin(position_, count);
  try {
    runner.run({.number = numbers.of(index_ + position_),
                .stride = numbers.stride,
                .count = count,
                .inputs = views_,
                .scattered = scattered_},
               outputs);
  } catch (...) {
    if (count == 1) throw;
    singly_until_ = position_ + count;  // run the elements one by one to find the one that failed
    return false;
  }
  position_ += count;
  return true;
}

void BlockFunction::view(std::int64_t position) {
  const auto at = static_cast<std::size_t>(position);
  if (rows_ != nullptr) {
    views_.resize(rows_->tables().size());
    rows_->view(block_->rows[at], views_);
    return;
  }
  if (!block_->packed.empty()) {
    views_.resize(block_->packed.width());
    block_->packed.view(position, views_);
    return;
  }
  views_.clear();
  for (const HostTensor& tensor : block_->elements[at]) views_.push_back(tensor.view());
}

/// Number of elements from position() on with the types of the first.
std::int64_t BlockFunction::alike(std::int64_t most) {
  if (rows_ != nullptr || !block_->packed.empty()) return most;
  const auto same = [](const HostTensor& tensor, const TensorView& first) { return tensor.type() == *first.type; };
  std::int64_t count = 1;
  for (; count < most; ++count) {
    const Element& element = block_->elements[static_cast<std::size_t>(position_ + count)];
    if (!std::equal(element.begin(), element.end(), views_.begin(), views_.end(), same)) break;
  }
  return count;
}

bool BlockFunction::consecutive(std::int64_t count) const {
  if (rows_ == nullptr) return !block_->packed.empty();
  const auto first = block_->rows.begin() + position_;
  const auto steps = [](std::int64_t row, std::int64_t following) { return following != row + 1; };
  return std::adjacent_find(first, first + count, steps) == first + count;
}

/// Copies `count` elements to contiguous memory; the views are those of the first.
void BlockFunction::gather(std::int64_t count) {
  gathered_.resize(views_.size());
  destinations_.clear();
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const std::size_t bytes = views_[i].type->bytes() * static_cast<std::size_t>(count);
    if (gathered_[i].empty() || gathered_[i].bytes() < bytes) {
      gathered_[i] = HostTensor(TensorType{{static_cast<std::int64_t>(bytes)}, Dtype::u8});
    }
    destinations_.push_back(gathered_[i].data());
  }
  if (rows_ != nullptr) {
    rows_->gather(std::span(block_->rows).subspan(static_cast<std::size_t>(position_), static_cast<std::size_t>(count)),
                  destinations_);
  } else {
    for (std::int64_t row = 0; row < count; ++row) {
      const Element& element = block_->elements[static_cast<std::size_t>(position_ + row)];
      for (std::size_t i = 0; i < views_.size(); ++i) {
        std::memcpy(destinations_[i] + static_cast<std::size_t>(row) * element[i].bytes(), element[i].data(),
                    element[i].bytes());
      }
    }
  }
  for (std::size_t i = 0; i < views_.size(); ++i) views_[i].data = destinations_[i];
}

/// Views of `count` elements in place; views_ are those of the first.
void BlockFunction::scatter(std::int64_t count) {
  const std::size_t tensors = views_.size();
  scattered_.resize(static_cast<std::size_t>(count) * tensors);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::size_t at = static_cast<std::size_t>(position_) + i;
    const std::span<TensorView> views(&scattered_[i * tensors], tensors);
    if (rows_ != nullptr) {
      rows_->view(block_->rows[at], views);
    } else if (!block_->packed.empty()) {
      block_->packed.view(position_ + static_cast<std::int64_t>(i), views);
    } else {
      std::ranges::transform(block_->elements[at], views.begin(), &HostTensor::view);
    }
  }
}

void rethrow_with_place(std::int64_t index, std::span<const TensorView> inputs) {
  try {
    throw;
  } catch (const Error& error) {
    if (typeid(error) != typeid(Error)) throw;
    const std::string text = error.what();
    const std::string path = shown_text(path_among(inputs), longest_path);
    const bool names_it = path.empty() || text.find(path) != std::string::npos;
    throw Error(fmt::format("{} (element {} of the epoch{})", text, index + 1, names_it ? "" : ", '" + path + "'"));
  }
}

}  // namespace gpubench
