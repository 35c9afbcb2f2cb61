// Elements of any types as text that tests compare: type and bytes of every tensor.
#pragma once
#include <string>
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

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
