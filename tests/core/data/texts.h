// Elements as text that tests compare: byte strings, and the bytes of elements of any types.
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

/// The bytes of every tensor.
inline std::string bytes_of(const Element& element) {
  std::string text;
  for (const HostTensor& tensor : element) {
    text.append(reinterpret_cast<const char*>(tensor.data()), tensor.bytes());
    text += '|';
  }
  return text;
}

/// What is left of an epoch.
inline std::vector<std::string> bytes_of(Cursor& cursor) {
  std::vector<std::string> elements;
  for (Element element; cursor.next(element);) elements.push_back(bytes_of(element));
  return elements;
}

inline std::vector<std::string> bytes_of(const DatasetPtr& dataset, std::uint64_t epoch) {
  return bytes_of(*dataset->open(epoch));
}

}  // namespace gpubench
