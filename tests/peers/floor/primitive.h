// oneDNN primitives as pieces: memory is allocated and filled here, so that timing sees the execution alone.
// Written against oneDNN 2.x, the version the project is built with.
#pragma once
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/peers/floor/piece.h"

namespace gpubench::peers {

inline const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

using Arguments = std::vector<std::pair<int, dnnl::memory::desc>>;

/// Memory for every argument, filled with small non-zero numbers (denormals would slow the arithmetic down).
inline std::unordered_map<int, dnnl::memory> allocate(const Arguments& arguments) {
  std::unordered_map<int, dnnl::memory> memories;
  for (const auto& [id, description] : arguments) {
    dnnl::memory memory(description, engine());
    auto* values = static_cast<unsigned char*>(memory.get_data_handle());
    const bool floats = description.data_type() == dnnl::memory::data_type::f32;
    if (floats) {
      for (std::size_t i = 0; i < description.get_size() / sizeof(float); ++i)
        reinterpret_cast<float*>(values)[i] = 1e-2F * static_cast<float>(1 + i % 7);
    }
    memories.emplace(id, std::move(memory));
  }
  return memories;
}

inline Piece primitive_piece(std::string how, dnnl::primitive primitive,
                             std::unordered_map<int, dnnl::memory> memories) {
  Piece piece;
  piece.how = std::move(how);
  piece.run = [primitive = std::move(primitive), memories = std::move(memories), stream = dnnl::stream(engine())] {
    auto order = stream;
    primitive.execute(order, memories);
    order.wait();
  };
  return piece;
}

inline Piece primitive_piece(std::string how, dnnl::primitive primitive, const Arguments& arguments) {
  return primitive_piece(std::move(how), std::move(primitive), allocate(arguments));
}

}  // namespace gpubench::peers
