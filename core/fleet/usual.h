// What is usual among siblings in one figure, and how far each of them is from it: the median and the median deviation,
// which a few bad machines do not move.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace gpubench {

struct Distance {
  /// As natural logarithm of the ratio; above 0 is worse. NaN: not known.
  double worse;
  /// In units of the usual distance between siblings. With few siblings the unit is larger, as quantiles of Student's t
  /// are beside those of the normal distribution: few of them may be near each other by chance.
  double deviations;
  /// The same for a decision that rests on this figure alone: few siblings say less far out.
  double alone;
};

/// The usual distance in other figures of the same machines: few siblings go by it too.
struct OtherFigures {
  std::size_t count = 0;
  double spread = 0;  ///< the median
};

/// The mean of the machines' shares of far values, without the tenth of them (and one) that have the most, and at least
/// 1 %: so many are far by chance.
double usual_share(std::vector<double> shares);

class UsualValues {
 public:
  /// Machines are usually half a percent apart: siblings that are nearer to each other are so by chance.
  static constexpr double least_spread = 0.005;

  /// Of values, of which NaN are none.
  UsualValues(std::span<const double> values, bool lower_is_better);
  /// Of logarithms of ratios, above 0 is worse.
  explicit UsualValues(std::span<const double> worse, double least_spread = UsualValues::least_spread);

  /// The number of values; 0 where distances cannot be told, because the median is 0.
  std::size_t count() const { return sorted_.size(); }
  /// The median of the values.
  double center() const { return center_; }
  /// The usual distance from it, as a logarithm of a ratio.
  double spread() const { return spread_; }
  /// The unit of deviations.
  double unit() const;
  /// Of a machine from all others.
  Distance distance(std::size_t machine, const OtherFigures& others) const;

 private:
  void measure();

  std::vector<double> worse_;   ///< by machine, without a center
  std::vector<double> sorted_;  ///< those that are there
  double least_, center_ = 0, middle_ = 0, spread_ = 0;
};

}  // namespace gpubench
