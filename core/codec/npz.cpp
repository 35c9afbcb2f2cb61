#include "core/codec/npz.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/codec/npy.h"
#include "core/codec/zip_archive.h"

namespace gpubench {

std::vector<NamedTensor> read_npz(const std::filesystem::path& path) {
  constexpr std::string_view extension = ".npy";
  const ZipArchive archive(path);
  std::vector<NamedTensor> arrays;
  for (const ZipArchive::Entry& entry : archive.entries()) {
    if (!entry.name.ends_with(extension)) {
      throw Error(fmt::format("{}: entry '{}' is no .npy array", path.string(), entry.name));
    }
    const std::vector<std::byte> bytes = archive.read(entry);
    ByteSpanSource source(fmt::format("{}({})", path.string(), entry.name), bytes);
    arrays.push_back({entry.name.substr(0, entry.name.size() - extension.size()), decode_npy(source)});
  }
  if (arrays.empty()) throw Error(fmt::format("{}: holds no arrays", path.string()));
  return arrays;
}

}  // namespace gpubench
