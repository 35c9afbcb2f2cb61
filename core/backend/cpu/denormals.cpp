#include "core/backend/cpu/denormals.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace gpubench::cpu {
namespace {

#if defined(__SSE__)
void flush_denormals() {
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
}
#elif defined(__aarch64__)
void flush_denormals() {
  constexpr unsigned long flush_to_zero = 1UL << 24;
  unsigned long control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("msr fpcr, %0" : : "r"(control | flush_to_zero));
}
#else
void flush_denormals() {}
#endif

}  // namespace

void flush_denormals_in_team(int threads) {
  flush_denormals();
#pragma omp parallel num_threads(threads) if (threads > 1)
  flush_denormals();
}

}  // namespace gpubench::cpu
