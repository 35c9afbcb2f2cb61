// Attention in blocks that fit the cache. A thread packs the keys and values of a group of heads as float32 once and
// lets its blocks of queries pass; nothing of size queries x keys exists. 16-bit types are widened while they are
// packed, so that all sums are float32.
#include <cmath>
#include <limits>

#include "core/backend/cpu/attention_blocks.h"
#include "core/backend/cpu/attention_packing.h"
#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"

namespace gpubench::cpu {
namespace {

/// A task is a block of queries of one head.
template <class T>
class AttentionLoop {
 public:
  AttentionLoop(const Attention& op, const Signature& signature, Device& device)
      : blocks_(op.options, signature),
        tasks_(blocks_.extents.batch * blocks_.extents.heads * blocks_.query_blocks),
        threads_(threads_for_attention(op, signature, tasks_, device)) {
    memory_floats_ = Memory(blocks_, nullptr).floats;
  }

  std::size_t workspace_bytes() const { return static_cast<std::size_t>(threads_ * memory_floats_) * sizeof(float); }

  void operator()(Views inputs, Views outputs, std::span<std::byte> workspace) const {
    const BesideInputs beside(blocks_.options, inputs);
    auto* const base = reinterpret_cast<float*>(workspace.data());
    parallel_ranges(threads_, tasks_, [&](int thread, std::int64_t begin, std::int64_t end) {
      const Memory memory(blocks_, base + thread * memory_floats_);
      std::int64_t packed = -1;
      for (std::int64_t task = begin; task < end; ++task) {
        const HeadPlace head(blocks_.extents, task / blocks_.query_blocks);
        if (packed != head.of_groups(blocks_.extents)) pack_keys(inputs, head, memory);
        packed = head.of_groups(blocks_.extents);
        const std::int64_t turn = task % blocks_.query_blocks;
        compute(inputs, outputs, beside, head, blocks_.block_in_turn(turn, blocks_.query_blocks), memory);
      }
    });
  }

 private:
  struct Memory {
    std::int64_t floats = 0;
    float *k_columns, *v, *q, *scratch;
    SoftmaxState state;

    Memory(const AttentionBlocks& blocks, float* base) {
      FloatMemory memory(base);
      k_columns = memory.take(blocks.key_blocks * blocks.extents.dim * key_block);
      v = memory.take(blocks.key_blocks * key_block * blocks.value_dim);
      q = memory.take(query_block * blocks.dim);
      scratch = memory.take(BlockScratch::floats);
      state = {memory.take(query_block * blocks.value_dim), memory.take(query_block), memory.take(query_block)};
      floats = memory.taken();
    }
  };

  void pack_keys(Views inputs, const HeadPlace& head, const Memory& memory) const {
    const HeadRows<T> k(inputs[1], head.batch, head.group), v(inputs[2], head.batch, head.group);
    for (std::int64_t block = 0; block < blocks_.key_blocks; ++block) {
      const std::int64_t first = block * key_block, count = blocks_.keys_in(block);
      pack_columns(k, first, count, key_block, memory.k_columns + first * blocks_.extents.dim);
      pack_rows(v, first, count, 1.0F, blocks_.value_dim, memory.v + first * blocks_.value_dim);
    }
  }

  void compute(Views inputs, Views outputs, const BesideInputs& beside, const HeadPlace& head, std::int64_t block,
               const Memory& memory) const {
    const std::int64_t first = block * query_block, count = blocks_.queries_in(block);
    pack_rows(HeadRows<T>(inputs[0], head.batch, head.head), first, count, static_cast<float>(blocks_.options.scale),
              blocks_.dim, memory.q);
    begin_softmax(blocks_, memory.state);
    const BlockScratch scratch(memory.scratch);
    for (std::int64_t keys = 0; keys < blocks_.key_blocks_of(block); ++keys) {
      const BlockPlace place{head.batch, head.head, block, keys, beside};
      add_keys(blocks_, place, memory.q, memory.k_columns + keys * key_block * blocks_.extents.dim,
               memory.v + keys * key_block * blocks_.value_dim, scratch, memory.state);
    }
    const HeadRows<T> out(outputs[0], head.batch, head.head);
    float* const log_sums = outputs[1].as<float>() + head.of_queries(blocks_.extents) + first;
    float* const log_rests = log_sums + blocks_.extents.all_queries();
    for (std::int64_t r = 0; r < count; ++r) {
      const float sum = memory.state.sum[r];
      store_row(memory.state.values + r * blocks_.value_dim, sum == 0 ? 0.0F : 1.0F / sum, out, first + r);
      const float largest = memory.state.largest[r], log_sum = std::log(sum);
      log_sums[r] = sum == 0 ? -std::numeric_limits<float>::infinity() : largest + log_sum;
      log_rests[r] = sum == 0 ? 0.0F : (largest - log_sums[r]) + log_sum;
    }
  }

  AttentionBlocks blocks_;
  std::int64_t tasks_, memory_floats_ = 0;
  int threads_;
};

std::unique_ptr<Kernel> plan_attention(const Attention& op, const Signature& signature, Device& device) {
  return dispatch(Floating{}, op.name(), signature.inputs[0].dtype, [&]<class T>() {
    const AttentionLoop<T> loop(op, signature, device);
    return loop_kernel(loop, loop.workspace_bytes());
  });
}

}  // namespace

void add_attention(KernelTable& table) {
  add_row<&plan_attention>(table);
}

}  // namespace gpubench::cpu
