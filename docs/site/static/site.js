// Pages opened from a folder may not read each other: results of the search come without their excerpts there.
if (location.protocol === "file:" && window.DOCUMENTATION_OPTIONS) DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
