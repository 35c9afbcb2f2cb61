#include "core/data/stage/unique.h"

#include <fmt/format.h>
#include <string>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view unique_stage = "unique";

class UniqueCursor final : public StageCursor {
 public:
  UniqueCursor(std::unique_ptr<Cursor> source, TensorTypes types)
      : StageCursor(unique_stage, std::move(source), types) {}

  bool next(Element& element) override {
    while (source_->next(element)) {
      check_interrupt();
      const Stopwatch watch;
      const bool is_new = seen_.insert(key_of(element.front())).second;
      busy_.add(watch.elapsed().count());
      if (!is_new) continue;
      produced_.add(element);
      return true;
    }
    return false;
  }

 private:
  /// Extents and bytes: elements of other extents differ.
  static std::string key_of(const HostTensor& tensor) {
    const auto append = [](std::string& to, const void* from, std::size_t bytes) {
      if (bytes > 0) to.append(static_cast<const char*>(from), bytes);
    };
    std::string key;
    append(key, tensor.shape().data(), tensor.shape().size() * sizeof(std::int64_t));
    append(key, tensor.data(), tensor.bytes());
    return key;
  }

  std::unordered_set<std::string> seen_;
};

class UniqueDataset final : public Transformation {
 public:
  using Transformation::Transformation;
  std::string_view stage() const override { return unique_stage; }
  DatasetPtr with_source(DatasetPtr source) const override { return unique(std::move(source)); }
  bool counts_elements() const override { return true; }
  std::optional<std::int64_t> size() const override { return std::nullopt; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<UniqueCursor>(source().open(epoch, options), element_types());
  }
};

}  // namespace

DatasetPtr unique(DatasetPtr source) {
  require_host_elements(*source, unique_stage);
  const std::vector<TensorType>& types = source->element_types();
  const Dtype dtype = types.front().dtype;
  if (types.size() != 1 || is_floating(dtype) || dtype == Dtype::boolean || dtype == Dtype::bytes) {
    throw Error(fmt::format("unique: elements are one tensor of integers or a byte string (uint8[?]), got {}",
                            to_string(types)));
  }
  return std::make_shared<UniqueDataset>(std::move(source));
}

}  // namespace gpubench
