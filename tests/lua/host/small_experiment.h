// The script of an experiment with three points and one claim.
#pragma once
#include <string>

namespace gpubench {

/// `body`: what its `run` does before it returns its figures.
inline std::string with_body(const std::string& body) {
  std::string text = R"(
local gb = require "gpubench"
gb.experiment {
  name = "small", title = "A small sweep",
  axes = { gb.axis("n", { 1, 2, 3 }) },
  run = function(point)
    BODY
    return { figure = point.n, figure_per_s = 1.0 / point.n }
  end,
  expect = { gb.expect.increasing { x = "n", y = "figure_per_s" } },
}
)";
  ;
  return text.replace(text.find("BODY"), 4, body);
}

}  // namespace gpubench
