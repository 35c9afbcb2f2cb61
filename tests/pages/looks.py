"""What is wrong with a page of gpubench in a browser, light and dark, at 1200, 600 and 360 pixels, and on paper.

Nothing but tables and charts may be wider than the window; tables have captions; text and charts have contrast; letters
of charts are large enough, whole, and do not cover each other; charts of a row are even; nothing is fetched, and no
message reaches the console. On paper a page has at most four sheets, and no heading stands alone at the end of one.
"""

import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
WINDOWS = [(width, scheme) for scheme in ("light", "dark") for width in (1200, 600, 360)]
MOST_SHEETS, MOST_BYTES = 4, 5_000_000
ALONE = re.compile(r"^ *(Claims|Results|What to do|Where the time goes|Verdict +Claim +Why) *$")


def name_of(page):
    """"batch_size" of results/batch_size/RUN/report.html."""
    return page.parent.parent.name if page.name == "report.html" else page.stem


def on_screen(window, page, pictures=None):
    """What is wrong with the page in each window."""
    window.show(*WINDOWS[0])
    window.open(page.as_uri())
    window.ask((HERE / "check.js").read_text())
    for width, scheme in WINDOWS:
        window.show(width, scheme)
        shown = window.ask(f'[innerWidth, matchMedia("(prefers-color-scheme: {scheme})").matches]')
        if shown != [width, True]:
            yield f"the window is {shown}, not {width} and {scheme}"
        yield from (f"at {width}, {scheme}: {one}" for one in window.ask("check()"))
        if pictures:
            window.picture(pictures / f"{name_of(page)}-{width}-{scheme}.png")
    yield from (f"a message reaches the console: {one}" for one in window.messages)
    yield from (f"it asks for {one}" for one in window.requests if one != page.as_uri() and not one.startswith("data:"))
    if page.stat().st_size > MOST_BYTES:
        yield f"it has more than {MOST_BYTES} bytes"


def on_paper(window, paper):
    """What is wrong with the page on paper, and how many sheets it takes."""
    window.show(*WINDOWS[0])
    pdf = window.paper()
    sheets = len(re.findall(rb"/Type */Page\b", pdf))
    wrong = [] if 1 <= sheets <= MOST_SHEETS else [f"it prints on {sheets} sheets"]
    if shutil.which("pdftotext"):
        paper.write_bytes(pdf)
        command = ["pdftotext", "-layout", paper, "-"]
        text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        for sheet in text.split("\f"):
            lines = [line for line in sheet.splitlines() if line.strip()]
            if lines and ALONE.match(lines[-1]):
                wrong.append(f"a heading stands alone at the end of a sheet: {lines[-1].strip()}")
    return wrong, sheets
