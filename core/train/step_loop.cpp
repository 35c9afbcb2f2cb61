#include "core/train/step_loop.h"

#include <algorithm>

#include "core/base/interrupt.h"
#include "core/telemetry/nvtx.h"

namespace gpubench {

bool StepLoop::fits() const {
  if (plan_ == nullptr || plan_->types.size() != element().size()) return false;
  if (plan_->on_device != (element().device != nullptr)) return false;
  for (std::size_t i = 0; i < element().size(); ++i) {
    if (plan_->types[i] != element()[i].type()) return false;
  }
  return true;
}

void StepLoop::choose_plan() {
  std::vector<TensorType> types;
  for (const HostTensor& tensor : element()) types.push_back(tensor.type());
  // Its runs do not wait for those of another plan, which would let their inputs be overwritten too early.
  if (plan_ != nullptr) plan_->executor->wait_for_inputs();
  plan_ = &plans_(types, element().device);
  views_.resize(element().size());
  const std::size_t alive = static_cast<std::size_t>(plan_->executor->inputs_in_flight()) + 1;
  if (elements_.size() < alive) {
    std::rotate(elements_.begin(), elements_.begin() + static_cast<std::ptrdiff_t>(latest_), elements_.end());
    latest_ = 0;
    elements_.resize(alive);
  }
}

bool StepLoop::step(Cursor& cursor) {
  check_interrupt();
  const std::size_t next = (latest_ + 1) % elements_.size();
  {
    const NvtxRange range("input");
    if (!cursor.next(elements_[next])) return false;
  }
  latest_ = next;
  fetched_ = Clock::now();
  if (!fits()) choose_plan();
  for (const ClassIndexCheck& check : plan_->checks) check(element());
  const NvtxRange range("step");
  for (std::size_t i = 0; i < element().size(); ++i) views_[i] = element()[i].view();
  plan_->executor->run(views_);
  return true;
}

void StepLoop::step_again() {
  check_interrupt();
  fetched_ = Clock::now();
  plan_->executor->run_again();
}

void StepLoop::release() {
  for (Element& element : elements_) gpubench::release(element);
}

}  // namespace gpubench
