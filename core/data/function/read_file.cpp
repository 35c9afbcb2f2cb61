#include "core/data/function/read_file.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/codec/byte_source.h"
#include "core/data/function/pass_through.h"

namespace gpubench {
namespace {

class ReadFileRunner final : public ElementRunner {
 public:
  void run(const ElementBlock& elements, ElementOutputs& outputs) override {
    const std::string_view path = text_of(elements.inputs.front());
    if (path.find('\0') != std::string_view::npos) {
      throw Error(fmt::format("read_file: '{}' is no path: it has a byte 0", shown_text(path)));
    }
    FileSource file{path};
    const auto size = static_cast<std::size_t>(file.left_at_most());
    type_.shape[0] = static_cast<std::int64_t>(size);
    file.read({outputs.place(0, type_), size}, "the file");
    pass_others(elements.inputs, outputs, 1);
  }

 private:
  TensorType type_{{0}, Dtype::u8};
};

class ReadFile final : public ElementFunction {
 public:
  std::vector<TensorType> output_types(TensorTypes inputs) const override {
    return with_others({{{varying}, Dtype::u8}}, inputs, "read_file");
  }
  bool takes_any_extents() const override { return true; }
  std::unique_ptr<ElementRunner> plan(TensorTypes /*inputs*/) const override {
    return std::make_unique<ReadFileRunner>();
  }
};

}  // namespace

std::shared_ptr<const ElementFunction> read_file() {
  return std::make_shared<ReadFile>();
}

}  // namespace gpubench
