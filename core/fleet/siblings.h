// The rule that says which of several machines of one model stands out, by its level or by its spread. A machine is
// judged by its siblings' values of the same night, never by its own past: one that was slow from its first night on is
// found too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gpubench {

/// Fewer others of the same model show nothing.
inline constexpr std::size_t fewest_siblings = 3;

struct SiblingFigure {
  bool lower_is_better = true;
  /// Figures of one row of a table, such as a time and the rate that is made of it, are one vote.
  std::size_t row = 0;
  /// [night][machine], the latest night last; NaN where there is no reliable value.
  std::vector<double> values = {};
  /// How far the run's own interval reaches on the worse side, as a share of the value: [night][machine], NaN where
  /// there is none. Empty: no run has intervals.
  std::vector<float> widths = {};
};

struct Siblings {
  std::size_t machines = 0, nights = 0;
  /// What is less than this much worse never stands out.
  double least_share = 0.03;
  std::vector<SiblingFigure> figures = {};

  std::size_t at(std::size_t night, std::size_t machine) const { return night * machines + machine; }
};

/// What shows that a machine stands out.
enum class StandOutSign {
  broad,      ///< tonight, in so many rows that chance does not explain it
  extreme,    ///< tonight, in one figure by very much
  lasting,    ///< in one figure, in the median of its last nights
  frequent,   ///< in one figure, in some of its last nights: its level is normal
  wide,       ///< in one figure, its repeats within a run spread more than those of its siblings
  recurring,  ///< in many rows, in some of its last nights, but not tonight
};
inline constexpr std::size_t stand_out_signs = 6;
std::string_view to_string(StandOutSign sign);

/// Signs, as bits.
class SignSet {
 public:
  void add(StandOutSign sign) { bits_ = static_cast<std::uint8_t>(bits_ | bit(sign)); }
  bool has(StandOutSign sign) const { return (bits_ & bit(sign)) != 0; }
  bool any() const { return bits_ != 0; }

 private:
  static unsigned bit(StandOutSign sign) { return 1U << static_cast<unsigned>(sign); }
  std::uint8_t bits_ = 0;
};

/// The rule on all nights of all figures.
class StandOuts {
 public:
  explicit StandOuts(const Siblings& siblings);

  /// Whether the machine had enough siblings with values that night.
  bool is_judged(std::size_t night, std::size_t machine) const { return judged_[at(night, machine)] != 0; }
  SignSet signs(std::size_t night, std::size_t machine) const { return signs_[at(night, machine)]; }
  /// Of one figure: it stands out there, so that the machine does.
  SignSet signs(std::size_t figure, std::size_t night, std::size_t machine) const {
    return figures_[figure].signs[at(night, machine)];
  }
  /// How much worse than its siblings' median, as natural logarithm of the ratio; below 0 is better; NaN: not judged.
  double worse(std::size_t figure, std::size_t night, std::size_t machine) const {
    return figures_[figure].worse[at(night, machine)];
  }
  /// The same in units of the usual distance between machines.
  double deviations(std::size_t figure, std::size_t night, std::size_t machine) const {
    return figures_[figure].deviations[at(night, machine)];
  }
  /// The same of the median of the last nights.
  double lasting_worse(std::size_t figure, std::size_t night, std::size_t machine) const {
    return figures_[figure].level[at(night, machine)];
  }
  /// The siblings' median and their usual distance from it, as a share of it. NaN: not judged.
  double usual(std::size_t figure, std::size_t night) const { return figures_[figure].usual[night]; }
  double spread(std::size_t figure, std::size_t night) const { return figures_[figure].spread[night]; }
  /// What a machine must be worse by to be far, as a share.
  double far_from(std::size_t figure, std::size_t night) const { return figures_[figure].far_from[night]; }
  /// The number of nights of the last ones in which the figure was far on the worse side.
  std::size_t far_nights(std::size_t figure, std::size_t night, std::size_t machine) const;
  /// The first of the consecutive nights in which the machine stood out, up to `night`, in which it does. Nights
  /// without values of the machine interrupt nothing.
  std::size_t since(std::size_t night, std::size_t machine) const;

 private:
  struct Figure {
    std::vector<float> worse, deviations, level;
    std::vector<double> usual, spread, far_from;
    std::vector<std::uint8_t> far;
    std::vector<SignSet> signs;
  };

  std::size_t at(std::size_t night, std::size_t machine) const { return night * machines_ + machine; }
  void measure(const Siblings& siblings, std::size_t night);
  void look_at_levels(std::size_t night);
  void add(std::size_t figure, std::size_t cell, StandOutSign sign);
  void look_at_widths(const Siblings& siblings, std::size_t figure);
  void look_at_frequency(std::size_t figure);
  bool is_frequent(std::size_t figure, std::size_t night, std::size_t machine) const;
  void look_at_rows(const Siblings& siblings, std::size_t night);
  void look_at_recurrence();
  std::size_t onset(std::size_t night, std::size_t machine) const;

  std::size_t machines_, nights_;
  double least_;
  std::vector<Figure> figures_;
  std::vector<std::uint8_t> judged_;
  std::vector<SignSet> signs_;
};

}  // namespace gpubench
