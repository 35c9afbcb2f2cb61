// One item of a dataset: a small tuple of host tensors, which share ownership of their memory with the stage that
// created them. An Element that is passed to next() repeatedly reuses its vectors, so that a warm pipeline allocates
// nothing.
#pragma once
#include <utility>
#include <vector>

#include "core/tensor/device_id.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {

struct Element : std::vector<HostTensor> {
  using std::vector<HostTensor>::vector;

  /// The device whose memory holds all tensors; nullptr: host memory. Cursors return elements on devices only if
  /// CursorOptions::on_devices is set. The pointer belongs to the Device, which must outlive the element.
  const DeviceId* device = nullptr;

  /// Replaces the vector's swap(), which would not swap the device.
  void swap(Element& other) noexcept {
    std::vector<HostTensor>::swap(other);
    std::swap(device, other.device);
  }
  friend void swap(Element& a, Element& b) noexcept { a.swap(b); }
};

/// Releases the tensors' memory, but keeps the element's vectors for the next use.
inline void release(Element& element) {
  for (HostTensor& tensor : element) tensor.release();
  element.device = nullptr;
}

/// The bytes of the element's tensors, without padding between them.
inline std::size_t element_bytes(const Element& element) {
  std::size_t bytes = 0;
  for (const HostTensor& tensor : element) bytes += tensor.bytes();
  return bytes;
}

}  // namespace gpubench
