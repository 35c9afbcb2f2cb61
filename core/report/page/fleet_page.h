// Who stands out tonight, as a page: the answer, the matrix of figures and machines, and who did not report.
#pragma once
#include <string>

#include "core/results/info.h"

namespace gpubench {

/// `verdict`: as core/fleet/verdict.h describes it; `csv`: the data behind the page.
std::string fleet_page(const Info& verdict, const std::string& csv);

}  // namespace gpubench
