// Host memory for tensors and pools, within the limit of the process's control group (group_room.h).
#pragma once
#include <cstddef>
#include <string>

namespace gpubench {

/// Uninitialized memory; nullptr if there is none. `alignment`: a power of two. From 2 MiB on it is aligned to 2 MiB
/// and asks for large pages, so that what sweeps over it or reads it at random misses the TLB less often.
std::byte* allocate_host_memory(std::size_t bytes, std::size_t alignment);
/// `bytes`: as many as were asked for.
void free_host_memory(std::byte* memory, std::size_t bytes) noexcept;
/// For memory that a library allocates (page-locked memory): false if the control group has too little.
bool may_take_host_memory(std::size_t bytes);
/// Appended to an error: "; the control group leaves 12 MiB of 300 MiB (memory.max)". Empty without such a limit.
std::string host_memory_limit();

}  // namespace gpubench
