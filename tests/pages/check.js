"use strict";
// Evaluated in each page that is looked at; see run.
const rgb = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
const luminance = (color) => {
  const [r, g, b] = color.map((value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((one, other) => other - one);
  return (x + 0.05) / (y + 0.05);
};

/** Whether letters in both boxes are hard to read; the boxes are higher than the letters. */
const cover = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
  Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5 * Math.min(a.height, b.height);

/** The boxes of slanted letters are larger than these. */
const is_slanted = (text) => { const { a, b } = text.getScreenCTM(); return Math.abs(a * b) > 0.01; };

/** What is seen: not behind a fold, nor for readers of the screen only. */
const seen = () => [...document.body.querySelectorAll("*")].filter((one) => one.checkVisibility() &&
  !one.matches(".unseen") && !one.closest("details:not([open]) > :not(summary)"));

/** What reaches beyond the window. `scrolls`: the elements in which content may be wider. */
function overflow(scrolls) {
  const is_cut = ({ left, right, width }) => right > innerWidth + 1 && left < innerWidth && width > 0;
  const beyond = seen().filter((one) => (!one.closest(scrolls) || one.matches(scrolls)) && !one.closest("svg *") &&
    is_cut(one.getBoundingClientRect()));
  const width = document.documentElement.scrollWidth;
  return width <= innerWidth + 1 && beyond.length === 0 ? [] :
    [`it is ${width} wide: ${beyond.slice(0, 4).map((one) => one.tagName + "." + one.getAttribute("class"))}`];
}

/** What is wrong with a page of the program in this window and these colours. */
function check() {
  const said = overflow(".scroll"), wrong = (text) => said.push(text);
  const background = rgb(getComputedStyle(document.body).backgroundColor).slice(0, 3);
  const all = seen().filter((one) => one.closest("main"));

  for (const one of all) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
    if (!own || one.closest("svg style, svg title, svg desc, svg defs")) continue;
    const style = getComputedStyle(one), color = rgb(one.closest("svg") ? style.fill : style.color);
    const ratio = contrast(color.slice(0, 3), background);
    const text = one.textContent.trim().slice(0, 40);
    if (ratio < 4.5) wrong(`text has the contrast ${ratio.toFixed(2)}: ${text} (${color})`);
  }
  const marks = new Set();
  for (const one of document.querySelectorAll("svg path, svg use, svg polygon, svg circle, svg line")) {
    if (one.closest("defs, clipPath, pattern")) continue;
    const style = getComputedStyle(one);
    for (const color of [style.stroke, style.fill]) if (color.startsWith("rgb")) marks.add(color);
  }
  for (const color of marks) {
    if (rgb(color)[3] === 0) continue;
    const ratio = contrast(rgb(color).slice(0, 3), background);
    if (ratio < 3) wrong(`marks in ${color} have the contrast ${ratio.toFixed(2)}`);
  }

  for (const one of document.querySelectorAll(".scroll:has(> table.runs)"))
    if (one.scrollWidth > one.clientWidth + 1) wrong(`the table of runs is ${one.scrollWidth} wide`);

  const charts = [...document.querySelectorAll(".charts svg")];
  for (const group of document.querySelectorAll(".charts")) {
    const heights = [...group.querySelectorAll("svg")].map((one) => Math.round(one.getBoundingClientRect().height));
    if (heights.length > 0 && Math.max(...heights) > Math.min(...heights) + 1) wrong(`charts are ${heights} high`);
  }
  for (const svg of charts) {
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const box = svg.getBoundingClientRect();
    if (box.width > 620) wrong(`a chart is ${box.width} wide`);
    for (const text of svg.querySelectorAll("text")) {
      const size = scale * parseFloat(getComputedStyle(text).fontSize);
      if (size < 11) wrong(`letters are ${size.toFixed(1)} pixels high: ${text.textContent}`);
      const place = text.getBoundingClientRect();
      if (Math.min(place.left - box.left, box.right - place.right, place.top - box.top, box.bottom - place.bottom) < -1)
        wrong(`a chart cuts off: ${text.textContent.trim()}`);
    }
    const texts = [...svg.querySelectorAll("text")].filter((one) => one.textContent.trim() !== "" && !is_slanted(one));
    texts.forEach((one, index) => texts.slice(index + 1).forEach((other) => {
      if (cover(one.getBoundingClientRect(), other.getBoundingClientRect()))
        wrong(`letters of a chart cover each other: ${one.textContent.trim()}, ${other.textContent.trim()}`);
    }));
  }

  for (const table of document.querySelectorAll("table"))
    if (!table.caption) wrong(`a table has no caption: ${table.className}`);
  for (const cell of document.querySelectorAll("th:not([scope])")) wrong(`a heading has no scope: ${cell.textContent}`);
  for (const one of document.querySelectorAll("[role=img], [role=region]"))
    if (!one.getAttribute("aria-label")) wrong(`an element has no label: ${one.className}`);

  return said;
}

/** The column "n" or "Rows" of the first table, sorted up and then down; null where there is none. */
function sorted() {
  const table = document.querySelector("table.sortable");
  const heading = table && [...table.tHead.rows[0].cells].find((one) => /^(n|Rows)$/.test(one.textContent));
  if (!heading) return null;
  const values = () => [...table.tBodies[0].rows].map((row) => row.cells[heading.cellIndex].textContent);
  const button = heading.querySelector("button");
  button.click(); const up = values().join(); button.click();
  return `${up} ${values().join()} ${heading.getAttribute("aria-sort")}`;
}
