#include "core/data/element/input_block.h"

namespace gpubench {

InputReader::InputReader(Cursor& source, TensorTypes types) : source_(source) {
  if (!source.tables().empty()) {
    rows_.emplace(source.tables());
  } else if (PackedElements::serves(types)) {
    packed_types_.assign(types.begin(), types.end());
    slots_.resize(types.size());
  }
}

void InputReader::read(std::int64_t most, InputBlock& block) {
  block.count = 0;
  block.error = nullptr;
  if (ended_) return;
  try {
    if (rows_) {
      read_rows(most, block);
    } else if (!packed_types_.empty()) {
      read_packed(most, block);
    } else {
      read_elements(most, block);
    }
  } catch (...) {
    block.error = std::current_exception();
  }
}

std::int64_t InputReader::skip(std::int64_t count) {
  if (ended_ || count == 0) return 0;
  const std::int64_t skipped = source_.skip(count);
  ended_ = skipped < count;
  return skipped;
}

void InputReader::read_rows(std::int64_t most, InputBlock& block) {
  block.rows.resize(static_cast<std::size_t>(most));
  block.count = static_cast<std::int64_t>(source_.next_rows(block.rows));
  ended_ = block.count < most;
}

void InputReader::read_packed(std::int64_t most, InputBlock& block) {
  block.packed.open(packed_types_, most);
  while (block.count < most && !ended_) {
    block.packed.view(block.count, slots_);
    if (source_.next_into(slots_)) {
      ++block.count;
    } else {
      ended_ = true;
    }
  }
}

void InputReader::read_elements(std::int64_t most, InputBlock& block) {
  if (std::ssize(block.elements) < most) block.elements.resize(static_cast<std::size_t>(most));
  while (block.count < most && !ended_) {
    if (source_.next(block.elements[static_cast<std::size_t>(block.count)])) {
      ++block.count;
    } else {
      ended_ = true;
    }
  }
}

}  // namespace gpubench
