// The lanes of a warp where they meet: __syncwarp(), shuffles and ballots. Lanes that a mask does not name go on, so
// the parts of a warp that diverged meet each for itself.
#pragma once
#include <array>
#include <cstddef>
#include <string>

namespace gpubench::cuda_on_cpu {

inline constexpr int warp_lanes = 32;
inline constexpr std::size_t lane_bytes = 16;  ///< most that a lane can give

struct Meeting {
  enum class Kind { sync, shuffle, ballot };
  Kind kind;
  unsigned lanes;  ///< the mask
  int from = 0;    ///< of a shuffle: the lane whose value the caller takes

  bool is_one_with(const Meeting& other) const { return kind == other.kind && lanes == other.lanes; }
};

/// Ends the test (fail_work()) where a GPU would do something undefined: the mask does not name the caller, two lanes
/// wait for each other at different places, or a lane takes the value of one that does not take part.
class Warp {
 public:
  using Value = std::array<std::byte, lane_bytes>;

  void start(unsigned number, int lanes);
  /// The lane gives a value, and waits until all lanes of the mask that have not ended have come.
  void come(int lane, const Meeting& meeting, const Value& given);
  bool waits(int lane) const { return (waiting_ & bit(lane)) != 0; }
  /// What the last meeting gave the lane: a shuffle the other's value, a ballot the lanes that gave something but
  /// zeros.
  const Value& taken(int lane) const { return lanes_[index(lane)].taken; }
  /// The lane's thread ends: no other waits for it.
  void leave(int lane);
  /// Who waits for whom; empty when no lane waits.
  std::string waiting() const;

 private:
  struct Lane {
    Meeting meeting{};
    Value given{}, taken{};
  };
  static constexpr unsigned bit(int lane) { return 1U << lane; }
  static constexpr std::size_t index(int lane) { return static_cast<std::size_t>(lane); }
  /// Those of the mask that wait at this meeting.
  unsigned at(const Meeting& meeting) const;
  void meet_if_all(const Meeting& meeting);
  Value value_for(int lane, unsigned all) const;

  std::array<Lane, warp_lanes> lanes_;
  unsigned number_ = 0;
  unsigned there_ = 0, waiting_ = 0;
};

}  // namespace gpubench::cuda_on_cpu
