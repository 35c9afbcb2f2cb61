#include "tests/support/cuda_on_cpu/races.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <link.h>
#include <map>
#include <span>
#include <sys/mman.h>
#include <vector>

#include "tests/support/cuda_on_cpu/block.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/gpu_memory.h"

namespace gpubench::cuda_on_cpu {
namespace {

/// Who touched a byte, and when: in which block, after how many barriers of the block, and of its warp since then.
struct Touch {
  std::uint32_t block = 0;  // 0: nobody
  std::uint32_t phase = 0;
  std::uint32_t lane_syncs = 0;
  std::uint32_t thread = 0;
};

struct Byte {
  Touch writer;
  /// Two that read since the last write, of different warps if there are such: a write that races with another reader
  /// races with one of them.
  std::array<Touch, 2> readers;
};

struct Segment {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
};

/// The program's own writable segment, less its beginning, which is read-only once addresses are filled in.
Segment writable_segment() {
  Segment found;
  const auto look = [](dl_phdr_info* program, std::size_t, void* to) {
    std::uintptr_t begin = 0, end = 0, constants_end = 0;
    for (const auto& header : std::span(program->dlpi_phdr, program->dlpi_phnum)) {
      const std::uintptr_t from = program->dlpi_addr + header.p_vaddr;
      if (header.p_type == PT_GNU_RELRO) constants_end = from + header.p_memsz;
      if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
      begin = from;
      end = from + header.p_memsz;
    }
    begin = std::max(begin, constants_end);
    *static_cast<Segment*>(to) = {begin, end - begin};
    return 1;  // the first is the program
  };
  ::dl_iterate_phdr(look, &found);
  return found;
}

const Segment& segment() {
  static const Segment one = writable_segment();
  return one;
}

/// Memory that is only there where it is touched.
Byte* new_shadow(std::size_t bytes) {
  return static_cast<Byte*>(::mmap(nullptr, bytes * sizeof(Byte), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

Byte* shadow_of(const void* at) {
  static Byte* const shared = new_shadow(segment().bytes);
  static auto& of_gpus = *new std::map<int, Byte*>;
  const int gpu = gpu_that_has(at);
  if (gpu < 0) return shared + (reinterpret_cast<std::uintptr_t>(at) - segment().begin);
  Byte*& shadow = of_gpus[gpu];
  if (shadow == nullptr) shadow = new_shadow(machine().memory_bytes);
  return shadow + gpu_memories().at(gpu).offset_of(at);
}

struct Progress {
  std::uint32_t block = 0, phase = 0;
  std::uint32_t first_block = 1;                  // of the launch
  std::vector<std::vector<unsigned>> lane_syncs;  // of each warp since the block's last barrier: the lanes
};
Progress& progress() {
  static auto& one = *new Progress;
  return one;
}

constexpr unsigned warp = 32;

std::vector<unsigned>& syncs_of(unsigned of_warp) {
  auto& all = progress().lane_syncs;
  if (all.size() <= of_warp) all.resize(of_warp + 1);
  return all[of_warp];
}

bool is_of_other_block(const Touch& earlier) {
  return earlier.block >= progress().first_block && earlier.block != progress().block;
}

/// Whether a barrier of both threads lies between.
bool is_before(const Touch& earlier, const Touch& later) {
  if (earlier.block != later.block) return !is_of_other_block(earlier);
  if (earlier.phase != later.phase || earlier.thread == later.thread) return true;
  if (earlier.thread / warp != later.thread / warp) return false;
  const unsigned both = 1U << earlier.thread % warp | 1U << later.thread % warp;
  const std::vector<unsigned>& syncs = syncs_of(later.thread / warp);
  for (std::size_t i = earlier.lane_syncs; i < syncs.size(); ++i) {
    if ((syncs[i] & both) == both) return true;
  }
  return false;
}

std::string race(const Touch& other, const char* did, bool shared) {
  const auto [x, y, z] = thread_at(other.thread);
  const std::string who = "thread (" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ") ";
  if (is_of_other_block(other)) return "memory that " + who + "of another block " + did + ", with nothing between";
  return (shared ? "shared memory that " : "memory that ") + who + did + ", with no barrier between";
}

void note_reader(std::array<Touch, 2>& readers, const Touch& touch) {
  for (Touch& reader : readers) {
    if (is_before(reader, touch)) {
      reader = touch;
      return;
    }
  }
  const bool one_warp = readers[0].thread / warp == readers[1].thread / warp;
  if (one_warp) readers[1] = touch;
}

}  // namespace

bool is_shared_memory(const void* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return address - segment().begin < segment().bytes && address - reinterpret_cast<std::uintptr_t>(&now) >= sizeof now;
}

void begin_launch() {
  progress().first_block = progress().block + 1;
}

void begin_shared_memory() {
  ++progress().block;
  order_block();
}

void order_block() {
  ++progress().phase;
  progress().lane_syncs.clear();
}

void order_lanes(unsigned of_warp, unsigned lanes) {
  syncs_of(of_warp).push_back(lanes);
}

std::string race_of(const void* at, std::size_t bytes, bool writes, unsigned thread) {
  const bool shared = is_shared_memory(at);
  const Touch touch{progress().block, progress().phase, static_cast<std::uint32_t>(syncs_of(thread / warp).size()),
                    thread};
  std::string found;
  const auto compare = [&](const Touch& other, const char* did) {
    // Another block's shared memory had the same addresses.
    if (shared && other.block != touch.block) return;
    if (found.empty() && !is_before(other, touch)) found = race(other, did, shared);
  };
  for (Byte& byte : std::span(shadow_of(at), bytes)) {
    compare(byte.writer, "wrote");
    if (writes) {
      for (const Touch& reader : byte.readers) compare(reader, "read");
      byte = {touch, {}};
    } else {
      note_reader(byte.readers, touch);
    }
  }
  return found;
}

const std::byte* first_unwritten_of_block(const void* at, std::size_t bytes) {
  const Byte* const shadow = shadow_of(at);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (shadow[i].writer.block != progress().block) return static_cast<const std::byte*>(at) + i;
  }
  return nullptr;
}

}  // namespace gpubench::cuda_on_cpu
