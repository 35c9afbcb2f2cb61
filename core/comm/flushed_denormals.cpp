#include "core/comm/flushed_denormals.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace gpubench {
namespace {

#if defined(__SSE__)
constexpr std::uint64_t flush_to_zero = _MM_FLUSH_ZERO_ON;
std::uint64_t control() {
  return _mm_getcsr();
}
void set_control(std::uint64_t value) {
  _mm_setcsr(static_cast<unsigned>(value));
}
#elif defined(__aarch64__)
constexpr std::uint64_t flush_to_zero = std::uint64_t{1} << 24;
std::uint64_t control() {
  std::uint64_t value = 0;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void set_control(std::uint64_t value) {
  asm volatile("msr fpcr, %0" : : "r"(value));
}
#else
constexpr std::uint64_t flush_to_zero = 0;
std::uint64_t control() {
  return 0;
}
void set_control(std::uint64_t) {}
#endif

}  // namespace

FlushedDenormals::FlushedDenormals() noexcept : before_(control()) {
  if ((before_ & flush_to_zero) == 0) set_control(before_ | flush_to_zero);
}

FlushedDenormals::~FlushedDenormals() {
  if ((before_ & flush_to_zero) == 0) set_control(before_);
}

}  // namespace gpubench
