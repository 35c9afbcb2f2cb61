#include "tests/support/ptx/counts.h"

#include <cstdlib>
#include <cxxabi.h>
#include <fstream>
#include <map>

namespace gpubench::ptx {
namespace {

struct Launches {
  std::uint64_t count = 0, threads = 0;
};

std::map<const Function*, Launches>& launches() {
  static auto& all = *new std::map<const Function*, Launches>;
  return all;
}

struct Counts {
  std::uint64_t instructions = 0, loads = 0, load_bytes = 0, stores = 0, store_bytes = 0, divisions = 0;
};

/// Its opcode, behind a guard.
std::string_view opcode_of(std::string_view text) {
  if (text.starts_with('@')) text.remove_prefix(std::min(text.find_first_of(" \t"), text.size()));
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text.substr(0, text.find_first_of(" \t"));
}

bool is_division(std::string_view opcode) {
  const std::string_view type = opcode.substr(opcode.rfind('.') + 1);
  return (opcode.starts_with("div.") || opcode.starts_with("rem.")) && !type.starts_with('f');
}

Counts counts_of(const Function& kernel) {
  Counts counts;
  for (const Instruction& each : kernel.code) {
    const std::string_view opcode = opcode_of(each.text);
    counts.instructions += each.executed;
    if (is_division(opcode)) counts.divisions += each.executed;
    if (opcode.starts_with("ld.global")) {
      counts.loads += each.executed;
      counts.load_bytes += each.executed * each.bytes;
    } else if (opcode.starts_with("st.global")) {
      counts.stores += each.executed;
      counts.store_bytes += each.executed * each.bytes;
    }
  }
  return counts;
}

std::string readable(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    &std::free);
  return text == nullptr ? name : text.get();
}

const std::vector<std::unique_ptr<Module>>* counted = nullptr;  // at the program's end

}  // namespace

void note_launch(const Function& kernel, const dim3& blocks, const dim3& threads) {
  Launches& those = launches()[&kernel];
  ++those.count;
  those.threads += std::uint64_t{blocks.x} * blocks.y * blocks.z * threads.x * threads.y * threads.z;
}

void write_counts(std::ostream& out, const std::vector<std::unique_ptr<Module>>& modules) {
  out << "# launches threads instructions loads load_bytes stores store_bytes divisions kernel\n";
  for (const auto& module : modules) {
    for (const std::string& kernel : module->kernels()) {
      const auto read = module->read().find(kernel);
      const bool is_read = read != module->read().end();
      const Launches those = is_read ? launches()[read->second.get()] : Launches{};
      const Counts counts = is_read ? counts_of(*read->second) : Counts{};
      out << those.count << " " << those.threads << " " << counts.instructions << " " << counts.loads << " "
          << counts.load_bytes << " " << counts.stores << " " << counts.store_bytes << " " << counts.divisions << " "
          << readable(kernel) << "\n";
    }
  }
}

void count_at_end(const std::vector<std::unique_ptr<Module>>& modules) {
  if (std::getenv("CUDA_ON_CPU_PTX_COUNTS") == nullptr) return;
  counted = &modules;
  std::atexit([] {
    std::ofstream file(std::getenv("CUDA_ON_CPU_PTX_COUNTS"));
    write_counts(file, *counted);
  });
}

}  // namespace gpubench::ptx
