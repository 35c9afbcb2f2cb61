// The gradient of attention, from the logarithms of sums that forward saved: each pair of blocks computes its weights
// again.
#include "core/backend/cpu/attention_blocks.h"
#include "core/backend/cpu/attention_packing.h"
#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"

namespace gpubench::cpu {
namespace {

/// The gradient, in one of two ways. With enough groups of heads each thread computes whole groups: each weight is
/// computed once. Else dq by blocks of queries, then dk and dv by blocks of keys: seven products instead of five, and
/// many more tasks. No two threads add to one result, so that results repeat.
template <class T>
class AttentionGradientLoop {
 public:
  AttentionGradientLoop(const AttentionGradient& op, const Signature& signature, Device& device)
      : blocks_(op.options, signature), outputs_at_(op.outputs_at()) {
    const AttentionExtents& extents = blocks_.extents;
    groups_ = extents.batch * extents.groups;
    threads_ = threads_for_attention(op, signature, extents.batch * extents.heads * blocks_.query_blocks, device);
    const std::int64_t rounds = (groups_ + threads_ - 1) / threads_;
    constexpr std::int64_t products_of_groups = 5, products_of_blocks = 7;
    by_groups_ = groups_ * products_of_blocks >= rounds * threads_ * products_of_groups;
    memory_floats_ = Memory(blocks_, nullptr).floats;
  }

  std::size_t workspace_bytes() const { return static_cast<std::size_t>(threads_ * memory_floats_) * sizeof(float); }

  void operator()(Views inputs, Views outputs, std::span<std::byte> workspace) const {
    const Run run{inputs, outputs, BesideInputs(blocks_.options, inputs)};
    auto* const base = reinterpret_cast<float*>(workspace.data());
    const auto share = [&](std::int64_t tasks, const auto& body) {
      parallel_ranges(threads_, tasks, [&](int thread, std::int64_t begin, std::int64_t end) {
        body(Memory(blocks_, base + thread * memory_floats_), begin, end);
      });
    };
    if (by_groups_) {
      share(groups_, [&](const Memory& memory, std::int64_t begin, std::int64_t end) {
        for (std::int64_t group = begin; group < end; ++group) group_gradient(run, group, memory);
      });
      return;
    }
    const std::int64_t heads = blocks_.extents.batch * blocks_.extents.heads;
    share(heads * blocks_.query_blocks, [&](const Memory& memory, std::int64_t begin, std::int64_t end) {
      std::int64_t packed = -1;
      for (std::int64_t task = begin; task < end; ++task) {
        const HeadPlace head(blocks_.extents, task / blocks_.query_blocks);
        if (packed != head.of_groups(blocks_.extents)) pack_keys(run, head, 0, blocks_.key_blocks, memory);
        packed = head.of_groups(blocks_.extents);
        const std::int64_t turn = task % blocks_.query_blocks;
        query_block_gradient(run, head, blocks_.block_in_turn(turn, blocks_.query_blocks), memory);
      }
    });
    share(groups_ * blocks_.key_blocks, [&](const Memory& memory, std::int64_t begin, std::int64_t end) {
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t turn = task % blocks_.key_blocks;
        key_block_gradient(run, task / blocks_.key_blocks, blocks_.block_in_turn(turn, blocks_.key_blocks), memory);
      }
    });
  }

 private:
  struct Run {
    Views inputs, outputs;
    BesideInputs beside;
  };

  struct Memory {
    std::int64_t floats = 0;
    float *k, *k_columns, *v_columns, *dk, *dv, *q, *dout, *dq, *dots, *scratch;

    Memory(const AttentionBlocks& blocks, float* base) {
      FloatMemory memory(base);
      const std::int64_t keys = blocks.key_blocks * key_block, queries = blocks.query_blocks * query_block;
      k = memory.take(keys * blocks.dim);
      k_columns = memory.take(keys * blocks.extents.dim);
      v_columns = memory.take(keys * blocks.extents.value_dim);
      dk = memory.take(keys * blocks.dim);
      dv = memory.take(keys * blocks.value_dim);
      q = memory.take(queries * blocks.dim);
      dout = memory.take(queries * blocks.value_dim);
      dq = memory.take(queries * blocks.dim);
      dots = memory.take(queries);
      scratch = memory.take(BlockScratch::floats);
      floats = memory.taken();
    }
  };

  void pack_keys(const Run& run, const HeadPlace& head, std::int64_t begin, std::int64_t end,
                 const Memory& memory) const {
    const HeadRows<T> k(run.inputs[1], head.batch, head.group), v(run.inputs[2], head.batch, head.group);
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t first = block * key_block, count = blocks_.keys_in(block);
      pack_rows(k, first, count, 1.0F, blocks_.dim, memory.k + first * blocks_.dim);
      pack_columns(k, first, count, key_block, memory.k_columns + first * blocks_.extents.dim);
      pack_columns(v, first, count, key_block, memory.v_columns + first * blocks_.extents.value_dim);
    }
  }

  void pack_queries(const Run& run, const HeadPlace& head, std::int64_t begin, std::int64_t end,
                    const Memory& memory) const {
    const HeadRows<T> q(run.inputs[0], head.batch, head.head), out(run.inputs[outputs_at_], head.batch, head.head);
    const HeadRows<T> dout(run.inputs[outputs_at_ + 2], head.batch, head.head);
    const std::int64_t first = begin * query_block, last = std::min(end * query_block, blocks_.extents.queries);
    pack_rows(q, first, last - first, static_cast<float>(blocks_.options.scale), blocks_.dim,
              memory.q + first * blocks_.dim);
    pack_rows(dout, first, last - first, 1.0F, blocks_.value_dim, memory.dout + first * blocks_.value_dim);
    for (std::int64_t i = first; i < last; ++i) {
      memory.dots[i] = packed_dot(out, i, memory.dout + i * blocks_.value_dim);
    }
  }

  /// `of_queries` and `of_keys`: which gradients are wanted.
  void add_pair(const Run& run, const HeadPlace& head, std::int64_t queries, std::int64_t keys, bool of_queries,
                bool of_keys, const Memory& memory) const {
    const std::int64_t i = queries * query_block, j = keys * key_block;
    const float* const log_sums =
        run.inputs[outputs_at_ + 1].template as<float>() + head.of_queries(blocks_.extents) + i;
    const QueryGradient from{.q = memory.q + i * blocks_.dim,
                             .dout = memory.dout + i * blocks_.value_dim,
                             .log_sums = log_sums,
                             .log_rests = log_sums + blocks_.extents.all_queries(),
                             .dots = memory.dots + i,
                             .dq = of_queries ? memory.dq + i * blocks_.dim : nullptr};
    const KeyGradient to{memory.k + j * blocks_.dim, memory.k_columns + j * blocks_.extents.dim,
                         memory.v_columns + j * blocks_.extents.value_dim,
                         of_keys ? memory.dk + j * blocks_.dim : nullptr,
                         of_keys ? memory.dv + j * blocks_.value_dim : nullptr};
    add_gradients(blocks_, {head.batch, head.head, queries, keys, run.beside}, from, to, BlockScratch(memory.scratch));
  }

  void store_queries(const Run& run, const HeadPlace& head, std::int64_t first, std::int64_t last,
                     const Memory& memory) const {
    const HeadRows<T> dq(run.outputs[0], head.batch, head.head);
    const auto scale = static_cast<float>(blocks_.options.scale);
    for (std::int64_t i = first; i < last; ++i) store_row(memory.dq + i * blocks_.dim, scale, dq, i);
  }

  void store_keys(const Run& run, const HeadPlace& head, std::int64_t first, std::int64_t last,
                  const Memory& memory) const {
    const HeadRows<T> dk(run.outputs[1], head.batch, head.group), dv(run.outputs[2], head.batch, head.group);
    for (std::int64_t j = first; j < last; ++j) {
      store_row(memory.dk + j * blocks_.dim, 1.0F, dk, j);
      store_row(memory.dv + j * blocks_.value_dim, 1.0F, dv, j);
    }
  }

  void group_gradient(const Run& run, std::int64_t group, const Memory& memory) const {
    const AttentionExtents& extents = blocks_.extents;
    const std::int64_t keys = blocks_.key_blocks * key_block, queries = blocks_.query_blocks * query_block;
    const std::int64_t first_head = group * extents.heads_per_group();
    pack_keys(run, HeadPlace(extents, first_head), 0, blocks_.key_blocks, memory);
    std::fill_n(memory.dk, keys * blocks_.dim, 0.0F);
    std::fill_n(memory.dv, keys * blocks_.value_dim, 0.0F);
    for (std::int64_t index = first_head; index < first_head + extents.heads_per_group(); ++index) {
      const HeadPlace head(extents, index);
      pack_queries(run, head, 0, blocks_.query_blocks, memory);
      std::fill_n(memory.dq, queries * blocks_.dim, 0.0F);
      for (std::int64_t j = 0; j < blocks_.key_blocks; ++j) {
        for (std::int64_t i = blocks_.first_query_block_of(j); i < blocks_.query_blocks; ++i)
          add_pair(run, head, i, j, true, true, memory);
      }
      store_queries(run, head, 0, extents.queries, memory);
    }
    store_keys(run, HeadPlace(extents, first_head), 0, extents.keys, memory);
  }

  void query_block_gradient(const Run& run, const HeadPlace& head, std::int64_t block, const Memory& memory) const {
    const std::int64_t first = block * query_block;
    pack_queries(run, head, block, block + 1, memory);
    std::fill_n(memory.dq + first * blocks_.dim, query_block * blocks_.dim, 0.0F);
    for (std::int64_t j = 0; j < blocks_.key_blocks_of(block); ++j) add_pair(run, head, block, j, true, false, memory);
    store_queries(run, head, first, first + blocks_.queries_in(block), memory);
  }

  void key_block_gradient(const Run& run, std::int64_t group, std::int64_t block, const Memory& memory) const {
    const AttentionExtents& extents = blocks_.extents;
    const std::int64_t first = block * key_block, first_head = group * extents.heads_per_group();
    pack_keys(run, HeadPlace(extents, first_head), block, block + 1, memory);
    std::fill_n(memory.dk + first * blocks_.dim, key_block * blocks_.dim, 0.0F);
    std::fill_n(memory.dv + first * blocks_.value_dim, key_block * blocks_.value_dim, 0.0F);
    const std::int64_t from = blocks_.first_query_block_of(block);
    for (std::int64_t index = first_head; index < first_head + extents.heads_per_group(); ++index) {
      const HeadPlace head(extents, index);
      pack_queries(run, head, from, blocks_.query_blocks, memory);
      for (std::int64_t i = from; i < blocks_.query_blocks; ++i) add_pair(run, head, i, block, false, true, memory);
    }
    store_keys(run, HeadPlace(extents, first_head), first, first + blocks_.keys_in(block), memory);
  }

  AttentionBlocks blocks_;
  std::size_t outputs_at_;
  bool by_groups_ = true;
  std::int64_t groups_ = 0, memory_floats_ = 0;
  int threads_ = 1;
};

std::unique_ptr<Kernel> plan_attention_gradient(const AttentionGradient& op, const Signature& signature,
                                                Device& device) {
  return dispatch(Floating{}, op.name(), signature.inputs[0].dtype, [&]<class T>() {
    const AttentionGradientLoop<T> loop(op, signature, device);
    return loop_kernel(loop, loop.workspace_bytes());
  });
}

}  // namespace

void add_attention_gradient(KernelTable& table) {
  add_row<&plan_attention_gradient>(table);
}

}  // namespace gpubench::cpu
