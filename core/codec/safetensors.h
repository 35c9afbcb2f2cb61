// The safetensors format: a JSON header with the type and offset of every tensor, then their bytes without gaps.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/codec/byte_source.h"
#include "core/codec/tensor_bytes.h"

namespace gpubench {

struct Safetensors {
  std::vector<NamedTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// In the order of the bytes in the file. Throws Error naming the file and the fault: cut short, an invalid JSON
/// header, an unknown type, offsets that overlap, leave gaps or contradict a shape.
Safetensors read_safetensors(const std::filesystem::path& path);
Safetensors decode_safetensors(ByteSource& source);
/// Replaces the file only when it is complete. Throws Error for a duplicate name and if the file cannot be written.
void write_safetensors(const std::filesystem::path& path, const Safetensors& contents);

}  // namespace gpubench
