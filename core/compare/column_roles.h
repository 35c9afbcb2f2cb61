// Roles of columns of which neither name nor unit says what they are: axes, figures, or facts about a process or a
// side. They are found from how the columns vary, over all sides together, so that all sides have the same axes.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/compare/side.h"

namespace gpubench {

/// Empties MeasuringProcess::open_columns:
/// - Text of which each side has one value of its own (a commit), and a column of one value that a side does not have:
///   a fact of the side.
/// - Text of which no value is in two processes, one of each process or of each row (a time stamp): left out.
/// - Other text, and numbers whose values are, on average, in two processes of a side or more (a learning rate): axes.
/// - Other numbers with decimals, and whole numbers that are in no two processes: figures.
/// - Other whole numbers: axes.
/// Columns in `figures` are figures. Where there is no other figure, all numbers with decimals are.
void settle_roles(std::span<Side> sides, const std::vector<std::string>& figures);

}  // namespace gpubench
