"""Event files of gb.callbacks.TensorBoard, read by TensorBoard itself: tags, steps and values of train and validation
are those of fit's history."""

import json
import pathlib
import subprocess
import sys
import tempfile

from processes import FOLDER, PROGRAM
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def scalars(folder):
    accumulator = EventAccumulator(str(folder))
    accumulator.Reload()
    return {tag: [(event.step, event.value) for event in accumulator.Scalars(tag)]
            for tag in accumulator.Tags()["scalars"]}


def faults(expected, found):
    for tag, (first, values) in expected.items():
        read = found.get(tag, [])
        steps = [step for step, _ in read]
        if steps != list(range(first, first + len(values))):
            yield f"{tag}: steps {steps}"
        elif any(abs(value - other) > 1e-5 * max(1, abs(other)) for (_, value), other in zip(read, values)):
            yield f"{tag}: {read}, the history has {values}"


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else PROGRAM
    with tempfile.TemporaryDirectory() as out:
        ended = subprocess.run([program, FOLDER / "gpubench_board.lua", "--out", out], check=True, capture_output=True,
                               text=True)
        history = json.loads(ended.stdout.splitlines()[-1])
        logs = pathlib.Path(out) / "results/logs"
        train, validation = scalars(logs / "train"), scalars(logs / "validation")
    wrong = list(faults({"epoch_loss": (0, history["loss"]), "epoch_mae": (0, history["mae"]),
                         "batch_loss": (1, history["batches"])}, train))
    wrong += faults({"epoch_loss": (0, history["val_loss"])}, validation)
    iterations = [step for step, _ in validation.get("evaluation_loss_vs_iterations", [])]
    if iterations != [4, 8, 12]:
        wrong.append(f"evaluation_loss_vs_iterations: steps {iterations}")
    print("\n".join(wrong) or f"TensorBoard reads {len(train)} tags of train and {len(validation)} of validation")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
