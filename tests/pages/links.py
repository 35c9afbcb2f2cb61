"""Whether links of pages lead to files and places that are there. Nothing is fetched."""

import pathlib
import urllib.parse

# What the page in the browser links to, and the places that a link may name.
LINKS = """[...document.querySelectorAll("a[href], area[href]")].map((one) => one.href).filter((one) => one !== "")"""
PLACES = """[...document.querySelectorAll("[id], a[name]")].flatMap((one) => [one.id, one.name]).filter((one) => one)"""


class Links:
    """Those of all pages: `see` each, then ask for the `dead` ones."""

    def __init__(self):
        self.places, self.links = {}, []

    def see(self, browser, page):
        self.places[page] = {*browser.ask(PLACES), "", "top"}
        self.links += [(page, one) for one in browser.ask(LINKS)]

    def dead(self):
        for page, link in self.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme != "file":
                continue
            target, place = pathlib.Path(urllib.parse.unquote(parts.path)), urllib.parse.unquote(parts.fragment)
            if not target.is_file():
                yield f"{page.name}: a link leads nowhere: {target}"
            elif place and place not in self.places.get(target, {place}):
                yield f"{page.name}: {target.name} has no place '{place}'"
