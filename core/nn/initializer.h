// Initial values of variables, computed on the host from a seed: the same seed gives the same bytes on any device.
// Names, formulas and defaults as in Keras.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/graph/variable.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {

struct Initializer {
  enum class Kind : std::uint8_t {
    constant,
    random_uniform,
    random_normal,
    truncated_normal,  ///< within two standard deviations
    variance_scaling,  ///< a spread of sqrt(scale / fan)
    orthogonal,        ///< rows or columns of length `gain`, each at right angles to all others
  };
  enum class Fan : std::uint8_t { in, out, average };
  enum class Distribution : std::uint8_t { truncated_normal, untruncated_normal, uniform };

  std::string_view name = "zeros";  ///< a row of the table
  Kind kind = Kind::constant;
  /// value; minval, maxval; mean, stddev; scale; gain.
  double first = 0;
  double second = 0;
  Fan fan = Fan::in;
  Distribution distribution = Distribution::truncated_normal;
  /// The initializer's own seed; if unset, the variable's position in the global sequence determines the seed.
  std::optional<std::uint64_t> seed{};

  /// Values of a floating-point type; 16-bit values are rounded from float32. Fans as in Keras: [in, out], [height,
  /// width, in, out]. Throws Error for an orthogonal one with fewer than two dimensions.
  HostTensor make(const TensorType& type, std::uint64_t seed_to_use) const;
};

/// "he_normal" or with arguments "random_normal(mean=0, stddev=0.02, seed=7)". Throws Error listing the initializers.
Initializer parse_initializer(std::string_view text);
std::string to_string(const Initializer& initializer);

/// Creates variables for layers and optimizers, which know no executor: the owner of the memory implements this
/// interface.
class VariableFactory {
 public:
  virtual ~VariableFactory() = default;
  /// Throws OutOfMemory.
  virtual VariablePtr create(std::string name, const HostTensor& initial, const DeviceId& device, bool trainable,
                             OwnerPtr owner) = 0;
  /// A new seed of the global sequence, for initializers and layers without their own seed.
  virtual std::uint64_t next_seed() = 0;
};

}  // namespace gpubench
