"""Series whose changes were marked by people or by the project that measured them."""

import csv
import dataclasses
import json
import pathlib


@dataclasses.dataclass
class Labelled:
    id: str
    values: list
    # The changes that each annotator marked, as indices of the first value after a change.
    annotators: list
    # Values that are known to be no change; empty where nothing is known.
    outliers: list = dataclasses.field(default_factory=list)

    def marks(self):
        return sorted(set().union(*map(set, self.annotators)))


def _json_lines(path):
    for line in path.read_text().splitlines():
        row = json.loads(line)
        marks = row["annotations"]
        annotators = list(marks.values()) if isinstance(marks, dict) else [marks]
        yield Labelled(row["id"], row["values"], annotators, row.get("outliers", []))


def _typed(folder):
    """SAP's small set: dataset_details.csv names a file, its type and its change (0: none)."""
    with open(folder / "dataset_details.csv", encoding="utf-8") as details:
        for row in csv.DictReader(details, delimiter=";"):
            with open(folder / row["Dataset"], encoding="utf-8") as file:
                values = [float(one["Measurement"]) for one in csv.DictReader(file)]
            change = int(row["Change Point"])  # counted from 1, as the column Index
            yield Labelled(row["Dataset"], values, [[change - 1] if change else []])


def _talos(folder, times_of):
    """Mozilla's runs: [id, build, time, value, ...], in the order of their times."""
    for name, times in times_of.items():
        runs = sorted(json.loads((folder / name).read_text())["test_runs"], key=lambda run: run[2])
        order = [run[2] for run in runs]
        yield Labelled(name, [run[3] for run in runs], [[order.index(time) for time in times]])


def _with_outliers(folder, values_of):
    """Conbench's histories: outliers, which are no changes; cells without a number are left out."""
    for name, outliers in values_of.items():
        lines = [line for line in (folder / name).read_text().splitlines() if line and line[0] != "#"]
        cells = [row["svs"] for row in csv.DictReader(lines)]
        values = [float(cell) for cell in cells if cell and cell != "NaN"]
        yield Labelled(name, values, [[]], [values.index(one) for one in outliers])


def read(name, fewest_annotators):
    """The series of a file or a folder, without those that too few have annotated."""
    path = pathlib.Path(name)
    if path.is_file():
        return [one for one in _json_lines(path) if len(one.annotators) >= fewest_annotators]
    if (path / "dataset_details.csv").exists():
        return list(_typed(path))
    expected = json.loads((path / "expected.json").read_text())
    if "change_timestamps" in expected:
        return list(_talos(path, expected["change_timestamps"]))
    return list(_with_outliers(path, expected["outliers"]))
