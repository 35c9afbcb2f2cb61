#include "core/backend/cuda/kernels/image.h"

#include <algorithm>

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/ops/image.h"
#include "core/ops/random_affine.h"

namespace gpubench::cuda {
namespace {

ImageBatch batch_of(const TensorType& type) {
  const ImageExtents extents = image_extents(type.shape);
  return {extents.images, extents.height, extents.width, extents.channels, type.dtype};
}

/// launch(on, seed and step, in, out) of an op on images and a step.
template <class Launch>
std::unique_ptr<Kernel> plan_random_images(const Op& op, const Signature& signature, Device& device, std::uint64_t seed,
                                           Launch launch) {
  const std::int64_t steps = std::max<std::int64_t>(signature.inputs[1].elements(), 1);
  const std::int64_t per_step = image_extents(signature.inputs[0].shape).images / steps;
  return launch_kernel(op, device, [seed, per_step, launch](const LaunchOn& on, Views inputs, Views outputs) {
    return launch(on, ImageDraws{seed, inputs[1].as<std::int64_t>(), per_step}, inputs[0].data, outputs[0].data);
  });
}

std::unique_ptr<Kernel> plan_random_flip_left_right(const RandomFlipLeftRight& op, const Signature& signature,
                                                    Device& device) {
  const ImageBatch images = batch_of(signature.inputs[0]);
  return plan_random_images(op, signature, device, op.seed,
                            [=](const LaunchOn& on, const ImageDraws& draws, const void* in, void* out) {
                              return launch_random_flip(on, draws, images, in, out);
                            });
}

std::unique_ptr<Kernel> plan_random_brightness(const RandomBrightness& op, const Signature& signature, Device& device) {
  const ImageBatch images = batch_of(signature.inputs[0]);
  const auto delta = static_cast<float>(op.max_delta);
  return plan_random_images(op, signature, device, op.seed,
                            [=](const LaunchOn& on, const ImageDraws& draws, const void* in, void* out) {
                              return launch_random_brightness(on, draws, images, delta, in, out);
                            });
}

std::unique_ptr<Kernel> plan_random_contrast(const RandomContrast& op, const Signature& signature, Device& device) {
  const ImageBatch images = batch_of(signature.inputs[0]);
  const auto lower = static_cast<float>(op.lower), upper = static_cast<float>(op.upper);
  return plan_random_images(op, signature, device, op.seed,
                            [=](const LaunchOn& on, const ImageDraws& draws, const void* in, void* out) {
                              return launch_random_contrast(on, draws, images, lower, upper, in, out);
                            });
}

std::unique_ptr<Kernel> plan_random_crop(const RandomCrop& op, const Signature& signature, Device& device) {
  const ImageBatch from = batch_of(signature.inputs[0]), to = batch_of(signature.outputs[0]);
  return plan_random_images(op, signature, device, op.seed,
                            [=](const LaunchOn& on, const ImageDraws& draws, const void* in, void* out) {
                              return launch_random_crop(on, draws, from, to, in, out);
                            });
}

std::unique_ptr<Kernel> plan_resize_images(const ResizeImages& op, const Signature& signature, Device& device) {
  const ImageBatch from = batch_of(signature.inputs[0]), to = batch_of(signature.outputs[0]);
  return launch_kernel(
      op, device,
      [from, to, bilinear = op.method == ResizeMethod::bilinear](const LaunchOn& on, Views inputs, Views outputs) {
        if (!bilinear) return launch_resize_nearest(on, from, to, inputs[0].data, outputs[0].data);
        return launch_resize_bilinear(on, from, to, inputs[0].data, outputs[0].as<float>());
      });
}

std::unique_ptr<Kernel> plan_random_affine(const RandomAffine& op, const Signature& signature, Device& device) {
  const ImageBatch images = batch_of(signature.inputs[0]);
  const AffineSampling sampling{op.options.range, op.options.fill, op.options.fill_value, op.options.bilinear};
  return plan_random_images(op, signature, device, op.seed,
                            [=](const LaunchOn& on, const ImageDraws& draws, const void* in, void* out) {
                              return launch_random_affine(on, draws, images, sampling, in, out);
                            });
}

}  // namespace

void add_image(KernelTable& table) {
  add_row<&plan_random_affine>(table);
  add_row<&plan_random_flip_left_right>(table);
  add_row<&plan_random_brightness>(table);
  add_row<&plan_random_contrast>(table);
  add_row<&plan_random_crop>(table);
  add_row<&plan_resize_images>(table);
}

}  // namespace gpubench::cuda
