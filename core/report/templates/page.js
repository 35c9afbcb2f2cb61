"use strict";
// Tables can be sorted by a click on a heading; the first columns stay in sight. The pages are whole without it.
(() => {
  const prefixes = { n: 1e-9, "µ": 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15,
                     Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };
  const number = /^(-?[\d.]+(?:e[-+]?\d+)?)(?:\s+(Ki|Mi|Gi|Ti|[nµmkMGTP](?![a-z]*in))?.*)?$/;
  const valueOf = (text) => {
    const match = number.exec(text);
    return match ? Number(match[1]) * (prefixes[match[2]] ?? 1) : NaN;
  };
  const compare = (a, b) => {
    const x = valueOf(a), y = valueOf(b);
    if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
    if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1;
    return a.localeCompare(b);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const headings = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const falling = heading.getAttribute("aria-sort") === "ascending";
        for (const other of headings) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
        const rows = [...body.rows].map((row) => [row.cells[column].textContent, row]);
        rows.sort((a, b) => (falling ? -1 : 1) * compare(a[0], b[0]));
        body.append(...rows.map((pair) => pair[1]));
      });
    });
    let left = 0;
    const first = body.rows[0] ? [...body.rows[0].cells].findIndex((cell) => cell.tagName !== "TH") : 0;
    for (let column = 0; column < first && left < window.innerWidth / 3; ++column) {
      for (const row of table.rows) {
        row.cells[column].classList.add("stays");
        row.cells[column].style.left = left + "px";
      }
      left += headings[column].offsetWidth;
    }
  }
})();
