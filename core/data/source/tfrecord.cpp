#include "core/data/source/tfrecord.h"

#include <cstring>

#include "core/codec/file_patterns.h"
#include "core/data/source/record_files.h"

namespace gpubench {
namespace {

constexpr std::string_view tfrecord_stage = "tfrecord";

class TfrecordFile final : public RecordFile {
 public:
  TfrecordFile(const std::string& path, TfrecordCompression compression) : reader_(path, compression) {}
  bool next() override { return reader_.next(record_); }
  void put(ElementOutputs& outputs) const override {
    const TensorType type{{std::ssize(record_)}, Dtype::u8};
    std::byte* const place = outputs.place(0, type);
    if (!record_.empty()) std::memcpy(place, record_.data(), record_.size());
  }

 private:
  TfrecordReader reader_;
  std::span<const std::byte> record_;
};

}  // namespace

DatasetPtr tfrecord(std::span<const std::string> files, TfrecordCompression compression) {
  return record_files(expand_patterns(files, tfrecord_stage),
                      {.stage = tfrecord_stage,
                       .types = {{{varying}, Dtype::u8}},
                       .open = [compression](const std::string& path) -> std::unique_ptr<RecordFile> {
                         return std::make_unique<TfrecordFile>(path, compression);
                       }});
}

}  // namespace gpubench
