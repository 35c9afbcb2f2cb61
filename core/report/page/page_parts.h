// What pages of all kinds are made of: a filled template, charts, and links to files.
#pragma once
#include <kainjow/mustache.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/report/page/page.h"

namespace gpubench {

/// The template with the pages' style and script. Values are escaped for HTML, and are one line each.
std::string fill(std::string_view page, kainjow::mustache::data values);

/// For the part "charts". `prefix` begins the names of the charts' elements, which are unique in a page.
kainjow::mustache::data charts_of(const std::vector<DrawnChart>& charts, std::string_view prefix);
kainjow::mustache::data links_of(const std::vector<PageLink>& links);

/// A link that holds the file itself, for pages that stand alone.
PageLink embedded_file(const std::string& name, const std::string& file, std::string_view type, std::string_view text);
/// Adds such a link, unless the data would make the page too large.
void embed_data(std::vector<PageLink>& links, const std::string& name, const std::string& file, std::string_view type,
                std::string_view text);

}  // namespace gpubench
