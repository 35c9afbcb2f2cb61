#include "tests/support/cuda_on_cpu/function_name.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <link.h>
#include <memory>
#include <optional>
#include <vector>

namespace gpubench::cuda_on_cpu {
namespace {

/// Where the program lies, less where it was linked to.
std::uintptr_t program_base() {
  std::uintptr_t base = 0;
  const auto first = [](dl_phdr_info* info, std::size_t, void* to) {
    *static_cast<std::uintptr_t*>(to) = info->dlpi_addr;
    return 1;  // the program is the first
  };
  ::dl_iterate_phdr(first, &base);
  return base;
}

template <class T>
T at(const std::vector<char>& file, std::size_t offset) {
  T value{};
  if (offset + sizeof(T) <= file.size()) std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

/// The symbol of the function in which the address lies, by where the program was linked to.
std::optional<std::string> symbol_of(const std::vector<char>& file, std::uintptr_t address) {
  const auto header = at<Elf64_Ehdr>(file, 0);
  const auto section = [&](std::size_t i) { return at<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr)); };
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr symbols = section(i);
    if (symbols.sh_type != SHT_SYMTAB) continue;
    const Elf64_Shdr names = section(symbols.sh_link);
    for (std::size_t offset = 0; offset < symbols.sh_size; offset += sizeof(Elf64_Sym)) {
      const auto symbol = at<Elf64_Sym>(file, symbols.sh_offset + offset);
      const bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
      if (is_function && address - symbol.st_value < symbol.st_size) {
        return std::string(file.data() + names.sh_offset + symbol.st_name);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::string function_name(const void* function) {
  std::ifstream program("/proc/self/exe", std::ios::binary);
  const std::vector<char> file{std::istreambuf_iterator<char>(program), {}};
  const auto symbol = symbol_of(file, reinterpret_cast<std::uintptr_t>(function) - program_base());
  if (!symbol) {
    std::string text(32, '\0');
    text.resize(static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%p", function)));
    return text;
  }
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(symbol->c_str(), nullptr, nullptr, &status),
                                                     &std::free);
  return plain == nullptr ? *symbol : plain.get();
}

}  // namespace gpubench::cuda_on_cpu
