// Kernels of core/ops/image.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/image.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_random_flip_left_right(const RandomFlipLeftRight& op, const Signature& signature,
                                                    Device& device);
std::unique_ptr<Kernel> plan_random_brightness(const RandomBrightness& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_random_contrast(const RandomContrast& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_random_crop(const RandomCrop& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_resize_images(const ResizeImages& op, const Signature& signature, Device& device);

}  // namespace gpubench::cpu
