#include "core/train/step_loop.h"

#include "core/base/interrupt.h"

namespace gpubench {

bool StepLoop::fits() const {
  if (plan_ == nullptr || plan_->types.size() != element_.size()) return false;
  for (std::size_t i = 0; i < element_.size(); ++i) {
    if (plan_->types[i] != element_[i].type()) return false;
  }
  return true;
}

void StepLoop::choose_plan() {
  std::vector<TensorType> types;
  for (const HostTensor& tensor : element_) types.push_back(tensor.type());
  plan_ = &plans_(types);
  views_.resize(element_.size());
}

bool StepLoop::step(Cursor& cursor) {
  check_interrupt();
  if (!cursor.next(element_)) return false;
  fetched_ = Clock::now();
  if (!fits()) choose_plan();
  for (const ClassIndexCheck& check : plan_->checks) check(element_);
  for (std::size_t i = 0; i < element_.size(); ++i) views_[i] = element_[i].view();
  plan_->executor->run(views_);
  return true;
}

void StepLoop::release() {
  gpubench::release(element_);
}

}  // namespace gpubench
