#include "core/train/step_loop.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/telemetry/nvtx.h"
#include "core/tensor/integer_type.h"

namespace gpubench {
namespace {

template <class T>
void check_labels(const ClassIndexCheck& rule, const HostTensor& labels) {
  const auto values = labels.values<T>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto label = static_cast<std::int64_t>(values[i]);
    if ((label >= 0 && label < rule.classes) || label == rule.ignored) continue;
    throw Error(fmt::format("{}: label {} of example {} is out of range; the model has {} classes, 0 to {}", rule.owner,
                            label, i, rule.classes, rule.classes - 1));
  }
}

}  // namespace

void ClassIndexCheck::operator()(const Element& element) const {
  const HostTensor& labels = element[tensor];
  // The loss has refused other types when its graph was built.
  for_integer_type(labels.dtype(), [&]<class T>(T) { check_labels<T>(*this, labels); });
}

bool StepLoop::fits(bool empty) const {
  if (plan_ == nullptr || plan_->key.share != share_) return false;
  if (empty) return true;
  if (plan_->key.types.size() != element().size()) return false;
  if (plan_->on_device != (element().device != nullptr)) return false;
  for (std::size_t i = 0; i < element().size(); ++i) {
    if (plan_->key.types[i] != element()[i].type()) return false;
  }
  return true;
}

void StepLoop::choose_plan(bool empty) {
  StepKey key{.types = {}, .share = share_};
  if (empty && plan_ == nullptr) {
    throw Error(
        "the dataset is too small to shard: this process has had no batch at all, and others have; take fewer "
        "processes, smaller batches, or dataset:repeated()");
  }
  if (empty) key.types = plan_->key.types;
  for (std::size_t i = 0; !empty && i < element().size(); ++i) key.types.push_back(element()[i].type());
  // Its runs do not wait for those of another plan, which would let their inputs be overwritten too early.
  if (plan_ != nullptr) plan_->executor->wait_for_inputs();
  plan_ = plans_(key, empty ? nullptr : element().device);
  views_.resize(key.types.size());
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
  bool empty = false;
  {
    const NvtxRange range("input");
    empty = !cursor.next(elements_[next]);
  }
  const bool others = replicas_ != nullptr && replicas_->group() != nullptr && steps_ == Steps::together;
  if (empty && !others) return false;
  if (!empty) latest_ = next;
  fetched_ = Clock::now();
  if (replicas_ != nullptr) share_ = BatchShare{.first = 0, .rows = empty ? 0 : rows(), .total = empty ? 0 : rows()};
  if (others) {
    replicas_->group()->set_step(++step_);
    share_ = replicas_->share(empty ? 0 : rows());
  }
  if (share_ && share_->total == 0) return false;
  if (!fits(empty)) choose_plan(empty);
  for (const ClassIndexCheck& check : plan_->checks) {
    if (!empty) check(element());
  }
  const NvtxRange range("step");
  for (std::size_t i = 0; !empty && i < element().size(); ++i) views_[i] = element()[i].view();
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
