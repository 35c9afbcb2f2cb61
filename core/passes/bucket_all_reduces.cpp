// Joins the all-reduces of gradients into buckets, in the order of the program, so that all replicas form the same
// buckets. A bucket's exchange begins when its last tensor is complete and ends before the first one is read; nodes in
// between run beside it. A bucket without such nodes becomes one all-reduce. A bucket holds up to `bucket_bytes`; a
// larger tensor has its own bucket.
//
// All-reduces are in place. copy_exchanged() gives each one a copy of a tensor that other nodes read too, or that is an
// input, a constant or a variable.
#include <algorithm>
#include <map>
#include <memory>

#include "core/graph/exchange_ops.h"
#include "core/graph/leaf_ops.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

const AllReduce* as_all_reduce(const Node& node) {
  return op_as<AllReduce>(node);
}

/// Memory that the in-place all-reduce node `all_reduce` may overwrite: `value` itself, or a copy if other nodes read
/// it or it is not computed by the program.
Value owned(Rewriter& rewriter, std::int32_t all_reduce, Value value) {
  bool shared = rewriter.uses(value) > 1;
  Value base = value;
  while (rewriter.old_node(base).op->is_view()) {
    base = rewriter.old_node(base).inputs[0];
    shared = shared || rewriter.uses(base) > 1;
  }
  const Value mapped = rewriter.map(value);
  if (!shared && !rewriter.old_node(base).inputs.empty()) return mapped;
  return rewriter.add(all_reduce, std::make_shared<const AddN>(), std::vector<Value>{mapped});
}

bool has_all_reduce(const Program& program) {
  return std::ranges::any_of(program.graph.nodes(), [](const Node& node) { return as_all_reduce(node) != nullptr; });
}

class Bucketing {
 public:
  Bucketing(const Program& program, std::size_t bucket_bytes)
      : rewriter_(program), nodes_(program.graph.nodes()), first_reader_(nodes_.size(), count()) {
    for (std::int32_t index = count() - 1; index >= 0; --index) {
      for (const Value input : node(index).inputs) first_reader_[static_cast<std::size_t>(input.node)] = index;
    }
    fill_buckets(bucket_bytes);
    place();
  }

  Program run() {
    for (std::int32_t index = 0; index < count(); ++index) {
      for (const std::size_t bucket : ends_before_[index]) end(buckets_[bucket]);
      if (!bucketed_[static_cast<std::size_t>(index)]) rewriter_.keep(index);
      for (const std::size_t bucket : begins_after_[index]) begin(buckets_[bucket]);
    }
    for (const std::size_t bucket : ends_before_[count()]) end(buckets_[bucket]);
    return rewriter_.finish();
  }

 private:
  struct Bucket {
    std::vector<std::int32_t> members;  // nodes with one all-reduce each
    std::size_t bytes = 0;
    std::int32_t ready = 0;  // the node after which all tensors are complete
    std::int32_t read = 0;   // the first node that reads one of the sums
    bool alone = false;      // no kernel runs in between
    Value begun;             // in the new graph
  };

  std::int32_t count() const { return static_cast<std::int32_t>(nodes_.size()); }
  const Node& node(std::int32_t index) const { return nodes_[static_cast<std::size_t>(index)]; }

  void fill_buckets(std::size_t bucket_bytes) {
    bucketed_.resize(nodes_.size());
    for (std::int32_t index = 0; index < count(); ++index) {
      const AllReduce* const op = as_all_reduce(node(index));
      if (op == nullptr || !op->in_bucket) continue;
      bucketed_[static_cast<std::size_t>(index)] = true;
      const std::size_t bytes = node(index).outputs[0].bytes();
      const std::int32_t made = node(index).inputs[0].node;
      const bool joins =
          !buckets_.empty() && buckets_.back().bytes + bytes <= bucket_bytes && buckets_.back().read > made;
      if (!joins) buckets_.emplace_back().read = count();
      Bucket& bucket = buckets_.back();
      bucket.members.push_back(index);
      bucket.bytes += bytes;
      bucket.ready = std::max(bucket.ready, made);
      bucket.read = std::min(bucket.read, first_reader_[static_cast<std::size_t>(index)]);
    }
  }

  void place() {
    std::int32_t previous = 0;
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      Bucket& bucket = buckets_[b];
      bucket.ready = previous = std::max(bucket.ready, previous);  // the same order on all replicas
      bucket.alone = nothing_between(bucket.ready, bucket.read);
      begins_after_[bucket.ready].push_back(b);
      if (!bucket.alone) ends_before_[bucket.read].push_back(b);
    }
  }

  /// Whether no kernel runs between nodes `first` and `last`.
  bool nothing_between(std::int32_t first, std::int32_t last) const {
    for (std::int32_t index = first + 1; index < last; ++index) {
      const bool computes =
          !node(index).inputs.empty() && !node(index).op->is_view() && as_all_reduce(node(index)) == nullptr;
      if (computes) return false;
    }
    return true;
  }

  void begin(Bucket& bucket) {
    std::vector<Value> tensors;
    for (const std::int32_t member : bucket.members)
      tensors.push_back(owned(rewriter_, member, node(member).inputs[0]));
    OpPtr op = std::make_shared<const AllReduceBegin>(tensors.size());
    if (bucket.alone) op = std::make_shared<const AllReduce>(tensors.size());
    bucket.begun = rewriter_.add(bucket.members[0], std::move(op), tensors);
    if (bucket.alone) hand_out(bucket, bucket.begun);
  }

  void end(const Bucket& bucket) {
    std::vector<Value> tensors;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(bucket.members.size()); ++i)
      tensors.push_back({bucket.begun.node, i});
    hand_out(bucket, rewriter_.add(bucket.members[0], std::make_shared<const AllReduceEnd>(tensors.size()), tensors));
  }

  void hand_out(const Bucket& bucket, Value sums) {
    for (std::size_t i = 0; i < bucket.members.size(); ++i)
      rewriter_.replace({bucket.members[i], 0}, {sums.node, static_cast<std::int32_t>(i)});
  }

  Rewriter rewriter_;
  const std::vector<Node>& nodes_;
  std::vector<std::int32_t> first_reader_;  // by node
  std::vector<bool> bucketed_;              // by node
  std::vector<Bucket> buckets_;
  std::map<std::int32_t, std::vector<std::size_t>> begins_after_, ends_before_;  // by node
};

}  // namespace

Program bucket_all_reduces(Program program, std::size_t bucket_bytes) {
  if (!has_all_reduce(program)) return program;
  return Bucketing(program, bucket_bytes).run();
}

Program copy_exchanged(Program program) {
  if (!has_all_reduce(program)) return program;
  Rewriter rewriter(program);
  const std::vector<Node>& nodes = program.graph.nodes();
  for (std::int32_t index = 0; index < static_cast<std::int32_t>(nodes.size()); ++index) {
    const Node& node = nodes[static_cast<std::size_t>(index)];
    if (as_all_reduce(node) == nullptr) {
      rewriter.keep(index);
      continue;
    }
    std::vector<Value> tensors;
    for (const Value input : node.inputs) tensors.push_back(owned(rewriter, index, input));
    const Value sums = rewriter.add(index, node.op, tensors);
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(tensors.size()); ++i)
      rewriter.replace({index, i}, {sums.node, i});
  }
  return rewriter.finish();
}

}  // namespace gpubench
