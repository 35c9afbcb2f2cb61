// Looks at the loads and stores of kernels and libraries, as the tools of compute-sanitizer do. Their sources are
// compiled with -fsanitize=thread, and access.cpp defines the functions that the compiler then calls before each load
// and store.
#pragma once
#include <string_view>

namespace gpubench::cuda_on_cpu {

/// A fault that a check finds ends the test.
struct Checks {
  /// Loads and stores beyond allocations, in memory that was freed, of another GPU, or of the host; those that are not
  /// aligned for their type; and parameters that are the address of a static variable of the host.
  bool memory = false;
  /// Loads of memory that nothing has written since it was allocated, or of shared memory that the block has not
  /// written.
  bool initialized = false;
  /// Loads and stores of one byte of shared memory, or of a GPU's, by two threads of a launch, one of which stores,
  /// with no barrier between.
  bool races = false;

  bool any() const { return memory || initialized || races; }
};

/// Names with commas between them. Throws std::invalid_argument for one that there is not.
Checks checks_named(std::string_view names);

/// Those that CUDA_ON_CPU_CHECK names, until a test changes them.
Checks& checks();

/// False if the build uses a sanitizer: the compiler cannot instrument twice.
bool can_check();

/// Whether loads and stores of the calling thread are looked at while it lives.
class Watching {
 public:
  explicit Watching(bool on);
  ~Watching();
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  bool before_;
};

/// For loads and stores that the compiler makes no calls for. All that is loaded is used, padding is not among it.
void check_load(const void* from, std::size_t bytes);
void check_store(const void* to, std::size_t bytes);
/// As check_load(), of words of eight bytes, half of which may be padding.
void check_load_of_words(const void* from, std::size_t bytes);

/// Ends the test when a kernel's parameter is the address of a static variable, which is memory of the host. A kernel
/// that uses it cannot be told from one that uses its own shared memory. Pointers within structs are not looked at:
/// padding may look like one.
void check_pointer(const void* kernel, const void* pointer);

}  // namespace gpubench::cuda_on_cpu
