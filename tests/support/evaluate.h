// Runs a graph node by node with fresh, poisoned memory for every value: the slowest and plainest executor, so that
// tests of ops need none of the real ones.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/backend/backend.h"
#include "core/graph/graph.h"
#include "core/tensor/host_tensor.h"

namespace gpubench::support {

/// Every bit set: a float32 that is not a number, so that an element which a kernel forgot shows.
inline constexpr unsigned char poison = 0xFF;

/// The value of a property of tests whose name is an implementation that one of the ops took: "cudnn:conv:engine 42".
inline constexpr const char* implementation_property = "implementation";

/// From now on every tensor lies in memory that `allocate` returns, which nothing has written, instead of poisoned
/// memory of the device's pool: memory checkers then see each by itself. To be called before the first test.
void lay_tensors_apart(std::function<std::shared_ptr<Buffer>(std::size_t bytes)> allocate);

/// `inputs` by the graph's input order. Variables are not supported.
std::vector<HostTensor> evaluate(const Backend& backend, Device& device, const Graph& graph,
                                 std::span<const HostTensor> inputs, Values outputs);

/// Runs one op. `overwrite`, when given, makes that alias' output the memory of its input; in-place ones always do.
std::vector<HostTensor> evaluate(const Backend& backend, Device& device, const Op& op,
                                 std::span<const HostTensor> inputs, const Alias* overwrite = nullptr);

}  // namespace gpubench::support
