#include "core/base/denormals.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace gpubench {
namespace {

#if defined(__SSE__)
constexpr std::uint64_t flush_to_zero = _MM_FLUSH_ZERO_ON;
std::uint64_t float_control() {
  return _mm_getcsr();
}
void set_float_control(std::uint64_t value) {
  _mm_setcsr(static_cast<unsigned>(value));
}
#elif defined(__aarch64__)
constexpr std::uint64_t flush_to_zero = std::uint64_t{1} << 24;
std::uint64_t float_control() {
  std::uint64_t value = 0;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void set_float_control(std::uint64_t value) {
  asm volatile("msr fpcr, %0" : : "r"(value));
}
#else
constexpr std::uint64_t flush_to_zero = 0;
std::uint64_t float_control() {
  return 0;
}
void set_float_control(std::uint64_t) {}
#endif

}  // namespace

void flush_denormals() noexcept {
  set_float_control(float_control() | flush_to_zero);
}

FlushedDenormals::FlushedDenormals() noexcept : before_(float_control()) {
  if ((before_ & flush_to_zero) == 0) set_float_control(before_ | flush_to_zero);
}

FlushedDenormals::~FlushedDenormals() {
  if ((before_ & flush_to_zero) == 0) set_float_control(before_);
}

}  // namespace gpubench
