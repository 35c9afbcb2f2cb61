#include "core/backend/kernel_table.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

class NothingToDo final : public Kernel {
 public:
  std::string_view implementation() const override { return "none"; }
  void run(Stream&, std::span<const TensorView>, std::span<const TensorView>, std::span<std::byte>) override {}
};

}  // namespace

std::unique_ptr<Kernel> kernel_without_work(const Signature& signature) {
  const auto is_empty = [](const TensorType& type) { return type.elements() == 0; };
  if (signature.outputs.empty() || !std::ranges::all_of(signature.outputs, is_empty)) return nullptr;
  return std::make_unique<NothingToDo>();
}

std::unique_ptr<Kernel> plan_by(const KernelTable& table, std::string_view backend, const Op& op,
                                const Signature& signature, Device& device) {
  const auto row = table.find(typeid(op));
  if (row == table.end()) throw Error(fmt::format("{}: there is no kernel for {}", backend, op.name()));
  if (auto nothing = kernel_without_work(signature)) return nothing;
  return row->second(op, signature, device);
}

}  // namespace gpubench
