// Moves activations to host memory until their gradients are computed. A layer's results that only gradients read again
// are copied to the host as soon as they are computed, and back shortly before their first gradient. This pass runs
// after those that choose kernels, so that kernels are the same as without offloading.
//
// Consecutive nodes with the same owner and role count as a layer. Tensors stay on the device if another device reads
// them, if they are outputs of the program, or if they would return before kernels have written as many bytes as they
// hold: no other tensor could use their memory. On devices without `overlaps`, kernels wait for every copy.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "core/graph/invariant.h"
#include "core/graph/leaf_ops.h"
#include "core/graph/offload_ops.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

/// Whether the node may read activations again after the forward computation.
bool is_late(const Node& node) {
  return node.role == Role::gradient || node.role == Role::recomputed;
}

/// The nodes at which one tensor's copies to the host and back begin and end.
struct Trip {
  std::int32_t store = 0;      ///< right after this node, which computes it
  std::int32_t store_end = 0;  ///< right after this one
  std::int32_t fetch = 0;      ///< right before this one
  std::int32_t fetch_end = 0;  ///< right before this one, the first that reads it again
};

class Offloading {
 public:
  Offloading(const Program& program, const OffloadOptions& options,
             const std::function<bool(const DeviceId&)>& overlaps)
      : rewriter_(program),
        nodes_(program.graph.nodes()),
        invariant_(invariant_nodes(program.graph)),
        options_(options),
        overlaps_(overlaps) {
    find_uses(program.outputs);
  }

  Program run() {
    for (std::int32_t index = 0; index < count(); ++index) {
      for (std::int32_t output = 0; output < static_cast<std::int32_t>(node(index).outputs.size()); ++output) {
        if (const std::optional<Trip> trip = trip_of({index, output})) add(Key{index, output}, *trip);
      }
    }
    for (std::int32_t index = 0; index < count(); ++index) {
      for (const Key& key : fetches_[index]) fetch(key);
      for (const Key& key : fetch_ends_[index]) end_fetch(key);
      keep(index);
      for (const Key& key : stores_[index]) store(key);
      for (const Key& key : store_ends_[index]) end_store(key);
    }
    return rewriter_.finish();
  }

 private:
  using Key = std::pair<std::int32_t, std::int32_t>;  // node and output
  struct Uses {
    std::vector<std::int32_t> readers;  // nodes, including those that read it through views
    bool stays = false;                 // a node needs it on the device
  };
  struct Away {
    Value host, device;  // in the new graph
    std::map<std::int32_t, Value> views;
  };

  std::int32_t count() const { return static_cast<std::int32_t>(nodes_.size()); }
  const Node& node(std::int32_t index) const { return nodes_[static_cast<std::size_t>(index)]; }
  static Key key_of(Value value) { return {value.node, value.output}; }

  /// The tensor whose memory `value` uses.
  Value root(Value value) const {
    while (node(value.node).op->is_view()) value = node(value.node).inputs[0];
    return value;
  }

  void find_uses(const std::vector<Value>& outputs) {
    for (std::int32_t index = 0; index < count(); ++index) {
      if (node(index).op->is_view()) continue;
      for (const Value input : node(index).inputs) {
        Uses& uses = uses_[key_of(root(input))];
        uses.readers.push_back(index);
        uses.stays |= op_as<Transfer>(node(index)) != nullptr;
      }
      for (const Alias& alias : node(index).op->aliases()) {
        if (alias.kind != Alias::Kind::in_place) continue;
        uses_[key_of(root(node(index).inputs[static_cast<std::size_t>(alias.input)]))].stays = true;
        uses_[{index, alias.output}].stays = true;
      }
    }
    for (const Value output : outputs) uses_[key_of(root(output))].stays = true;
  }

  bool is_chosen(const Node& node) const {
    return node.role == Role::forward && std::ranges::find(options_.layers, node.owner) != options_.layers.end();
  }

  /// Whether the node takes time; leaves and views do not.
  bool is_launch(std::int32_t index) const { return !node(index).inputs.empty() && !node(index).op->is_view(); }

  std::optional<Trip> trip_of(Value value) {
    const Node& made = node(value.node);
    if (!is_launch(value.node) || invariant_[static_cast<std::size_t>(value.node)] || !is_chosen(made) ||
        op_as<Transfer>(made) != nullptr) {
      return std::nullopt;
    }
    const Uses& uses = uses_[key_of(value)];
    std::int32_t last_early = value.node, first_late = std::numeric_limits<std::int32_t>::max();
    for (const std::int32_t reader : uses.readers) {
      if (is_late(node(reader))) first_late = std::min(first_late, reader);
    }
    for (const std::int32_t reader : uses.readers) {
      if (!is_late(node(reader))) last_early = std::max(last_early, reader);
    }
    if (uses.stays || first_late >= count() || first_late < last_early) return std::nullopt;
    const int ahead = overlaps_(made.device) ? options_.ahead : 0;
    Trip trip{.store = value.node, .store_end = value.node, .fetch = first_late, .fetch_end = first_late};
    if (ahead > 0) trip.store_end = layers_after(last_early, ahead - 1);
    if (ahead > 0) trip.fetch = layers_before(first_late, ahead);
    const auto bytes = static_cast<double>(made.outputs[static_cast<std::size_t>(value.output)].bytes());
    const bool gains = computed_between(std::max(trip.store_end, last_early), trip.fetch, made.device) >= bytes;
    return gains ? std::optional(trip) : std::nullopt;
  }

  /// The last launch of the layer that comes `layers` after the layer of `from`.
  std::int32_t layers_after(std::int32_t from, int layers) const {
    std::int32_t at = from;
    for (std::int32_t index = from + 1; index < count() && layers > 0; ++index) {
      if (!is_launch(index)) continue;
      const bool ends = index + 1 == count() || !same_part(node(index + 1), node(index));
      at = index;
      if (ends) --layers;
    }
    return at;
  }

  /// The first launch of the layer that comes `layers` before the layer of `from`.
  std::int32_t layers_before(std::int32_t from, int layers) const {
    std::int32_t at = from;
    for (std::int32_t index = from - 1; index >= 0; --index) {
      if (!is_launch(index)) continue;
      if (!same_part(node(index), node(at)) && layers-- == 0) break;
      at = index;
    }
    return at;
  }

  /// Bytes written by launches strictly between two nodes.
  double computed_between(std::int32_t first, std::int32_t last, const DeviceId& device) const {
    double bytes = 0;
    for (std::int32_t index = first + 1; index < last; ++index) {
      if (!is_launch(index) || node(index).device != device) continue;
      for (const TensorType& type : node(index).outputs) bytes += static_cast<double>(type.bytes());
    }
    return bytes;
  }

  void add(const Key& key, const Trip& trip) {
    away_.emplace(key, Away{});
    stores_[trip.store].push_back(key);
    store_ends_[trip.store_end].push_back(key);
    fetches_[trip.fetch].push_back(key);
    fetch_ends_[trip.fetch_end].push_back(key);
  }

  Value apply(const Key& key, OpPtr op, std::initializer_list<Value> inputs) {
    return rewriter_.add(key.first, std::move(op), std::vector<Value>(inputs));
  }
  void store(const Key& key) {
    const Value kept = rewriter_.map({key.first, key.second});
    away_[key].host = apply(key, std::make_shared<const Store>(), {kept});
  }
  void end_store(const Key& key) {
    const Value kept = rewriter_.map({key.first, key.second});
    away_[key].host = apply(key, std::make_shared<const StoreEnd>(), {kept, away_[key].host});
  }
  void fetch(const Key& key) { away_[key].device = apply(key, std::make_shared<const Fetch>(), {away_[key].host}); }
  void end_fetch(const Key& key) {
    away_[key].device = apply(key, std::make_shared<const FetchEnd>(), {away_[key].device, away_[key].host});
  }

  void keep(std::int32_t index) {
    if (node(index).op->is_view() || !is_late(node(index))) return rewriter_.keep(index);
    Node copy = node(index);
    for (Value& input : copy.inputs) input = fetched(input);
    rewriter_.put(index, std::move(copy));
  }

  /// For a late reader: `value` in the fetched memory, through a copy of its views.
  Value fetched(Value value) {
    const auto found = away_.find(key_of(root(value)));
    if (found == away_.end()) return rewriter_.map(value);
    if (!node(value.node).op->is_view()) return found->second.device;
    Value& view = found->second.views[value.node];
    if (!view) {
      Node copy = node(value.node);
      copy.inputs[0] = fetched(copy.inputs[0]);
      view = rewriter_.graph().adopt(std::move(copy));
    }
    return view;
  }

  Rewriter rewriter_;
  const std::vector<Node>& nodes_;
  std::vector<bool> invariant_;  // by node
  const OffloadOptions& options_;
  const std::function<bool(const DeviceId&)>& overlaps_;
  std::map<Key, Uses> uses_;
  std::map<Key, Away> away_;
  std::map<std::int32_t, std::vector<Key>> stores_, store_ends_, fetches_, fetch_ends_;  // by node
};

}  // namespace

Program offload(Program program, const OffloadOptions& options,
                const std::function<bool(const DeviceId& device)>& overlaps) {
  if (options.layers.empty()) return program;
  return Offloading(program, options, overlaps).run();
}

}  // namespace gpubench
