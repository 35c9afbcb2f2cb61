// How long a kernel takes on an emulated accelerator: a roofline, and what small products and long rows take beyond it.
#pragma once
#include <cstdint>
#include <span>

#include "core/backend/backend.h"
#include "core/backend/emulated/profile.h"
#include "core/base/clock.h"

namespace gpubench {

enum class KernelKind {
  elements,       ///< each element is read or written once
  product,        ///< matrix products, convolutions, attention and recurrences
  softmax,        ///< goes over its rows three times
  normalization,  ///< goes over its rows twice
};
/// "elements".
/// Throws Error listing the names.
KernelKind parse_kernel_kind(std::string_view name);

/// What decides about a kernel's time.
struct KernelWork {
  KernelKind kind = KernelKind::elements;
  double flops = 0;
  double bytes = 0;      ///< every input read once and every output written once
  double row_bytes = 0;  ///< of a row that is gone over several times
  bool half = false;     ///< the operands have 16 or fewer bits, as tensor cores want them
  /// Of a product: bytes, up to 16, of which the rows of all its tensors are multiples.
  int alignment = 16;
  /// Kernels that follow one another, with equal parts of the work. A recurrence has several a step.
  std::int64_t kernels = 1;
  std::int64_t products = 1;  ///< how many of them are products, if any is
};

KernelWork work_of(const Op& op, const Signature& signature);

/// Seconds of all kernels: kernel_s for each + max(flops / rate, passes * bytes / rate), and
///  - for each product sqrt(its flops / rate * ramp_s): small ones do not fill the accelerator, and the last tiles of
///    any leave a part of it idle. A product of fewer bits than 32 is slower where rows are no multiples of 16 bytes,
///    as tensor cores want them: 1.25, 2 and 4 times as slow at 8, 4 and 2 bytes (assumed, by the charts of NVIDIA's
///    Matrix Multiplication Background User's Guide);
///  - for softmax and normalization ramp_s. Their passes are 1 for rows that fit into caches and grow to 2 (three reads
///    and a write in place of one and one) or 1.5 (two reads) around row_bytes; normalization holds less of a row,
///    which is a quarter as long there.
double kernel_seconds(const Profile& profile, const KernelWork& work);

/// A measured kernel.
struct KernelSample {
  KernelWork work;
  double seconds = 0;
};

/// `start` with the numbers that the samples decide about: float32_flops_per_s and ramp_s by products in float32,
/// float16_flops_per_s by those of fewer bits, memory_bytes_per_s by elements, row_bytes by softmax and normalization.
/// Minimizes the mean of |log(predicted / measured)|, which a few odd sizes hardly change. Numbers for which there are
/// fewer than three samples stay. Throws Error for a sample without bytes or time.
Profile fit_profile(Profile start, std::span<const KernelSample> samples);

/// Median of |predicted / measured - 1|. Needs at least one sample.
double median_error(const Profile& profile, std::span<const KernelSample> samples);

}  // namespace gpubench
