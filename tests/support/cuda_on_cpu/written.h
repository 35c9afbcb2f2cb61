// Which bytes of the GPUs' memory have been written since they were allocated. Only kept while `initialized` is
// checked. Memory of the host counts as written.
#pragma once
#include <cstddef>

namespace gpubench::cuda_on_cpu {

void note_allocated(const void* at, std::size_t bytes);
void note_written(const void* at, std::size_t bytes);
/// What is copied is as it was where it came from.
void note_copied(const void* to, const void* from, std::size_t bytes);

/// The first byte that nothing has written; nullptr for none.
const std::byte* first_unwritten(const void* at, std::size_t bytes);

}  // namespace gpubench::cuda_on_cpu
