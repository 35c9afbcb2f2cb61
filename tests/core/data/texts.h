// Elements that are byte strings: making them and reading them back.
#pragma once
#include <string>
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

inline HostTensor byte_string(const std::string& text) {
  HostTensor tensor(TensorType{{static_cast<std::int64_t>(text.size())}, Dtype::u8});
  std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), tensor.data());
  return tensor;
}

inline std::string text_of(const HostTensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data()), tensor.bytes()};
}

/// The first tensors of the elements that are left.
inline std::vector<std::string> read_texts(Cursor& cursor) {
  std::vector<std::string> texts;
  Element element;
  while (cursor.next(element)) texts.push_back(text_of(element[0]));
  return texts;
}

inline std::vector<std::string> read_texts(const DatasetPtr& dataset, std::uint64_t epoch = 0) {
  return read_texts(*dataset->open(epoch));
}

}  // namespace gpubench
