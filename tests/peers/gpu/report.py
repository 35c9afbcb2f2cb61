"""Writes the rows of a comparison: as text for people, as CSV and JSON for programs."""

import csv
import io
import json

import lines

COLUMNS = ["line", "figure", "value", "unit", "spread", "against", "bar_is", "bar", "verdict", "reason", "note"]
PREFIXES = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n")]


def quantity(value, unit):
    """"812.4 TFLOP/s", "18.2 us", "96.1 %", "1.52 x"; a dash for none."""
    if value is None:
        return "-"
    if unit == "share":
        return f"{100 * value:.1f} %"
    if unit == "x":
        return f"{value:.2f} x"
    factor, prefix = next((one for one in PREFIXES if abs(value) >= one[0]), (1, ""))
    return f"{value / factor:.4g} {prefix}{'B/s' if unit == 'bytes/s' else unit}"


def cells(row):
    bar = f"{row['bar_is']} {quantity(row['bar'], row['unit'])}" if row["bar"] is not None else ""
    spread = f"{100 * row['spread']:.1f} %" if row["spread"] is not None else ""
    why = row["reason"] if row["verdict"] == lines.UNMEASURED else row["note"]
    return [row["line"], row["figure"], quantity(row["value"], row["unit"]), spread, bar, row["verdict"], why or ""]


def text(rows, facts):
    gpu, after = facts["states"][0], facts["states"][-1]
    head = [f"gpubench and PyTorch on {facts['gpu'].get('name', facts['device'])}, {facts['begun']}"]
    for system, about in facts["systems"].items():
        head.append(f"{system}: " + ", ".join(f"{name} {value}" for name, value in about.items()))
    for system, libraries in facts.get("libraries", {}).items():
        if libraries:
            head.append(f"libraries of {system}: " + ", ".join(libraries[name] for name in sorted(libraries)))
    if facts["no_torch"]:
        head.append(facts["no_torch"])
    if gpu:
        head.append(f"driver {gpu.get('driver', '?')}, clock before {gpu.get('sm_clock_mhz', '?')} MHz and after "
                    f"{after.get('sm_clock_mhz', '?')} MHz of {gpu.get('max_sm_clock_mhz', '?')} MHz, throttled: "
                    + (", ".join(facts["throttled"]) or "not when looked at"))
    table = [["line", "figure", "value", "spread", "bar", "verdict", "why or what"]] + [cells(row) for row in rows]
    widths = [max(len(one[i]) for one in table) for i in range(len(table[0]) - 1)]
    body = ["  ".join([cell.ljust(width) for cell, width in zip(one, widths)] + [one[-1]]).rstrip() for one in table]
    counts = {verdict: sum(row["verdict"] == verdict and row["bar"] is not None for row in rows)
              for verdict in (lines.MET, lines.MISSED, lines.UNMEASURED)}
    summary = ["bars: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items())]
    summary += [f"missed: {row['line']}: {row['figure']}: {quantity(row['value'], row['unit'])}, {row['bar_is']} "
                f"{quantity(row['bar'], row['unit'])}" for row in rows if row["verdict"] == lines.MISSED]
    return "\n".join(head + [""] + body + [""] + summary) + "\n"


def write(folder, rows, facts, measured):
    """Replaces each file as a whole, because the process may be ended at any time."""
    folder.mkdir(parents=True, exist_ok=True)

    def replace(name, text):
        (folder / (name + ".new")).write_text(text)
        (folder / (name + ".new")).replace(folder / name)

    samples = [{"system": system, "name": name, "processes": processes}
               for (system, name), processes in measured.samples.items()]
    whole = {"run": facts, "rows": rows, "samples": samples}
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, COLUMNS, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    replace("gpu_peers.json", json.dumps(whole, indent=1) + "\n")
    replace("gpu_peers.txt", text(rows, facts))
    replace("gpu_peers.csv", table.getvalue())
