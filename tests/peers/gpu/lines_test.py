"""Tests of the comparison's table: bars met, missed and not measured, medians, the order of the processes."""

import contextlib
import io
import json
import os
import pathlib
import statistics
import tempfile
import time
import unittest
import unittest.mock

import clock
import compare
import lines
import machine
import report

SIZES, SMALL = lines.Sizes.of(small=False), lines.Sizes.of(small=True)
RATIO, STEP = "M1 batch 32 float32: PyTorch eager over gpubench", "M1 batch 32 float32: step of gpubench (graph)"


def measured_of(**samples):
    """Keys are system__name with _ for the spaces of names; a list is one process."""
    measured = lines.Measured()
    for key, processes in samples.items():
        system, name = key.split("__")
        for one in processes:
            measured.add(system, [{"name": name.replace("_", " "), "samples": one}])
    return measured


def find(rows, words):
    found = [row for row in rows if words in row["figure"]]
    assert len(found) == 1, (words, [row["figure"] for row in rows])
    return found[0]


class Statistics(unittest.TestCase):
    def test_each_process_counts_alike(self):
        measured = measured_of(gpubench__m1=[[1, 1, 1, 1, 9], [2], [3, 3]])
        self.assertEqual(measured.median("gpubench", "m1"), 2)
        self.assertEqual(measured.spread("gpubench", "m1"), 1)

    def test_one_process_has_no_spread(self):
        self.assertIsNone(measured_of(gpubench__m1=[[1, 2]]).spread("gpubench", "m1"))

    def test_the_order_hits_both_alike(self):
        order = lines.order(2)
        self.assertEqual(order, ["gpubench", "torch", "torch", "gpubench"] * 2)
        self.assertEqual(lines.order(1, quick=True), ["gpubench", "torch", "gpubench"])
        places = {system: sum(i for i, one in enumerate(order) if one == system) for system in order}
        self.assertEqual(places["gpubench"], places["torch"])

    def test_reasons_are_kept(self):
        measured = lines.Measured()
        measured.add("torch", [{"name": "m1 graph", "reason": "a CPU has no CUDA graphs"}])
        measured.fail("gpubench", "ended with status 2")
        self.assertEqual(measured.reason("torch", "m1 graph"), "a CPU has no CUDA graphs")
        self.assertEqual(measured.reason("gpubench", "m1"), "ended with status 2")
        self.assertEqual(measured.reason("torch", "m2 eager"), "was not run")


class Bars(unittest.TestCase):
    def test_at_least_and_at_most_include_the_bar(self):
        self.assertEqual(lines.row("m1", RATIO, "x", 5.0)["verdict"], lines.MET)
        self.assertEqual(lines.row("m1", RATIO, "x", 4.9)["verdict"], lines.MISSED)
        self.assertEqual(lines.row("m1", STEP, "s", 4e-5)["verdict"], lines.MET)
        self.assertEqual(lines.row("m1", STEP, "s", 5e-5)["verdict"], lines.MISSED)

    def test_no_value_is_neither_met_nor_missed(self):
        row = lines.row("m1", RATIO, "x", None, reason="no PyTorch")
        self.assertEqual((row["verdict"], row["reason"]), (lines.UNMEASURED, "no PyTorch"))
        self.assertEqual(lines.row("m1", RATIO, "x", float("nan"))["verdict"], lines.UNMEASURED)
        self.assertEqual(lines.row("m", "f", "x", 3.0)["verdict"], lines.INFORMATION)

    def test_every_bar_is_the_bar_of_a_row_at_the_sizes_that_it_names(self):
        rows = lines.table(lines.Measured(), SIZES, {}, lines.LINES, on_gpu=True)
        self.assertEqual(sorted(row["figure"] for row in rows if row["bar"] is not None), sorted(lines.BARS))
        self.assertFalse([row for row in rows if "at this size" in (row["reason"] or "")])
        for row in rows:
            bar = lines.BARS.get(row["figure"])
            self.assertTrue(bar is None or (bar["unit"], bar["line"]) == (row["unit"], row["line"]))

    def test_no_bar_is_held_against_another_size(self):
        times = {"gpubench__matmul_bfloat16": [[1e-3]], "torch__matmul_bfloat16": [[1e-3]], "gpubench__m1": [[1e-5]],
                 "gpubench__m2": [[1e-3]], "gpubench__m3": [[1e-3]], "torch__m3_compile": [[1e-3]]}
        rows = lines.table(measured_of(**times), SMALL, {"name": "NVIDIA H200"}, lines.LINES, on_gpu=True)
        self.assertEqual([row["figure"] for row in rows if row["verdict"] in (lines.MET, lines.MISSED)], [STEP])
        for figure in ["bfloat16 8192^3: gpubench over", "M2 batch 8192", "M3 batch 256"]:
            self.assertIn("not measured at this size", find(rows, figure)["reason"])
        self.assertEqual({row["figure"] for row in rows if row["bar"] is not None}, set(lines.BARS))

    def test_quick_runs_take_the_same_sizes(self):
        for words in [[], ["--quick"]]:
            arguments = compare.arguments_from(words)
            self.assertFalse(arguments.small)
            arguments.seconds = 1
            plan = next(compare.processes_of(arguments, SIZES, True))[1]
            self.assertEqual((plan["matmul"], plan["models"]["m2"]["batch"]), (8192, 8192))
            self.assertEqual(plan["compiled"], ["m3", "resnet50"] if words else ["m1", "m3", "resnet50"])

    def test_matmul_is_held_against_the_best(self):
        times = {"gpubench__matmul_bfloat16": [[1.4e-3]], "torch__matmul_bfloat16": [[1.45e-3]],
                 "torch__matmul_bfloat16_compiled": [[1.30e-3]]}
        rows = lines.table(measured_of(**times), SIZES, {"name": "NVIDIA H200"}, ["matmul"], on_gpu=True)
        share = find(rows, "bfloat16 8192^3: gpubench over")
        self.assertAlmostEqual(share["value"], 1.30 / 1.4)
        self.assertEqual((share["verdict"], share["note"]), (lines.MISSED, "best: torch matmul bfloat16 compiled"))
        self.assertEqual(find(rows, "bfloat16 8192^3, gpubench")["verdict"], lines.INFORMATION)

    def test_other_libraries_are_not_comparable(self):
        times = {"gpubench__matmul_bfloat16": [[1e-3]], "torch__matmul_bfloat16": [[1e-3]],
                 "gpubench__copy_to_device": [[5e10]], "torch__copy_to_device": [[5e10]]}
        own, theirs = {"libcublasLt": "/usr/a.so.13.0.2"}, {"libcublasLt": "/wheel/a.so.13.1.0", "libcudnn": "/wheel/d.so"}
        for loaded, verdict in [({"gpubench": own, "torch": theirs}, lines.UNMEASURED),
                                ({"gpubench": theirs, "torch": theirs}, lines.MET), ({"torch": theirs}, lines.MET)]:
            rows = lines.table(measured_of(**times), SIZES, {}, ["matmul", "copies"], on_gpu=True, loaded=loaded)
            share = find(rows, "bfloat16 8192^3: gpubench over")
            self.assertEqual(share["verdict"], verdict)
            self.assertEqual(find(rows, "to device: gpubench over PyTorch")["verdict"], lines.MET)
            if verdict == lines.UNMEASURED:
                self.assertEqual(share["reason"], "not comparable: gpubench has /usr/a.so.13.0.2, PyTorch /wheel/a.so.13.1.0")

    def test_m1_needs_its_time_and_both_ratios(self):
        times = {"gpubench__m1": [[2e-5]], "torch__m1_eager": [[3e-4]], "torch__m1_graph": [[2.5e-5]]}
        rows = lines.model_rows(measured_of(**times), SIZES, "m1")
        self.assertEqual(find(rows, "step of gpubench")["verdict"], lines.MET)
        self.assertEqual(find(rows, "eager over")["verdict"], lines.MET)
        self.assertEqual(find(rows, "CUDA graph over")["verdict"], lines.MISSED)
        self.assertEqual(find(rows, "floor by count")["verdict"], lines.UNMEASURED)

    def test_m3_is_held_against_the_faster_compiled_step(self):
        times = {"gpubench__m3": [[1e-4]], "torch__m3_compile": [[3e-4]], "torch__m3_compile_+_graph": [[1.4e-4]]}
        row = find(lines.model_rows(measured_of(**times), SIZES, "m3"), "torch.compile over")
        self.assertAlmostEqual(row["value"], 1.4)
        self.assertEqual(row["verdict"], lines.MISSED)

    def test_resnet50_is_held_against_what_is_compiled_and_measured_last(self):
        times = {"gpubench__resnet50": [[0.10]], "torch__resnet50_compile": [[0.11]],
                 "torch__resnet50_compile_+_graph": [[0.10]]}
        row = find(lines.model_rows(measured_of(**times), SIZES, "resnet50"), "torch.compile over")
        self.assertEqual((row["value"], row["verdict"]), (1.0, lines.MET))
        self.assertEqual(lines.shifts(["m1", "resnet50", "copies"]), [["m1", "copies"], ["resnet50"]])
        self.assertEqual(lines.shifts(["resnet50"]), [["resnet50"]])

    def test_m2_is_a_share_of_the_best_product_of_the_run(self):
        times = {"gpubench__m2": [[1.2e-2]], "gpubench__matmul_bfloat16": [[1.5e-3]],
                 "torch__matmul_bfloat16": [[1.4e-3]]}
        row = find(lines.model_rows(measured_of(**times), SIZES, "m2"), "over the measured peak")
        peak = 2 * 8192**3 / 1.4e-3
        self.assertAlmostEqual(row["value"], SIZES.models["m2"].flops() / 1.2e-2 / peak)
        alone = find(lines.model_rows(measured_of(gpubench__m2=[[1]]), SIZES, "m2"), "over the measured peak")
        self.assertEqual(alone["reason"], "needs the line matmul of the same run")

    def test_copies_are_held_against_pytorchs(self):
        measured = measured_of(gpubench__copy_to_device=[[54e9]], gpubench__copy_from_device=[[50e9]],
                               torch__copy_to_device=[[55e9]], torch__copy_from_device=[[56e9]])
        rows = lines.copies_rows(measured, {"link_bytes_per_s": lines.link_bytes_per_s(5, 16)})
        self.assertEqual(find(rows, "to device: gpubench over PyTorch")["verdict"], lines.MET)
        self.assertEqual(find(rows, "from device: gpubench over PyTorch")["verdict"], lines.MISSED)
        self.assertEqual(find(rows, "to device, gpubench, over")["verdict"], lines.INFORMATION)
        rows = lines.copies_rows(measured, {"link_bytes_per_s": 5.2e10})  # another link than the one that was used
        self.assertIn("faster than the link", find(rows, "to device, gpubench, over")["reason"])
        rows = lines.copies_rows(measured_of(gpubench__copy_to_device=[[54e9]]), {"link_note": "no PCIe generation"})
        self.assertEqual(find(rows, "to device, gpubench, over")["verdict"], lines.UNMEASURED)
        self.assertEqual(find(rows, "to device: gpubench over PyTorch")["reason"], "was not run")

    def test_a_cpu_meets_and_misses_nothing(self):
        times = {"gpubench__m1": [[2e-5]], "torch__m1_eager": [[3e-4]]}
        rows = lines.table(measured_of(**times), SIZES, {}, lines.LINES, on_gpu=False)
        self.assertFalse({row["verdict"] for row in rows} & {lines.MET, lines.MISSED})
        self.assertEqual(find(rows, "eager over")["reason"], "only a GPU's is held against the bar")


class Counts(unittest.TestCase):
    def test_flops_leave_out_the_inputs_gradient(self):
        model = lines.Model("M", 2, "float32", (3,))
        self.assertEqual(model.flops(), 2 * (2 * 2 * 784 * 3 + 3 * 2 * 3 * 10))
        self.assertEqual(model.parameters(), 784 * 3 + 3 + 3 * 10 + 10)

    def test_resnet50_has_its_published_size(self):
        model = SIZES.models["resnet50"]
        self.assertEqual(model.parameters(), 25557032)
        self.assertEqual(sum(multiplications for multiplications, _, _ in model.layers()), 4089184256)

    def test_the_floor_is_the_larger_of_two_times(self):
        times = {"gpubench__matmul_float32": [[1e-2]], "gpubench__copy_on_device": [[4e12]]}
        floor, limit = lines.floor_of(measured_of(**times), SIZES, SIZES.models["m1"])
        self.assertEqual(limit, "memory")
        self.assertAlmostEqual(floor, SIZES.models["m1"].bytes() / 4e12)

    def test_link_rates(self):
        self.assertAlmostEqual(lines.link_bytes_per_s(5, 16) / 1e9, 63.0, places=1)
        self.assertAlmostEqual(lines.link_bytes_per_s(3, 8) / 1e9, 7.9, places=1)
        self.assertIsNone(lines.link_bytes_per_s(9, 16))


class Blocks(unittest.TestCase):
    def test_a_first_call_that_compiles_does_not_make_blocks_short(self):
        calls = []

        def call():
            calls.append(1)
            time.sleep(0.0005 if len(calls) > 1 else 0.05)

        ends = []
        samples = clock.Clock(lambda: ends.append(len(calls)), 0.02).samples(call)
        self.assertLess(statistics.median(samples), 0.01)  # the machine may stop single blocks
        self.assertGreater(ends[-1] - ends[-2], 3)  # 5 ms of calls, not one


class Machine(unittest.TestCase):
    def test_links_and_throttles_in_words(self):
        rate, words = machine.link({"name": "NVIDIA H200", "link_generation": "5", "link_lanes": "16"})
        self.assertAlmostEqual(rate, lines.link_bytes_per_s(5, 16))
        self.assertIn("generation 5, 16 lanes", words)
        self.assertIsNone(machine.link({"name": "NVIDIA GH200 480GB", "link_generation": "5", "link_lanes": "16"})[0])
        self.assertIsNone(machine.link({"name": "NVIDIA H200"})[0])
        self.assertEqual(machine.throttle_words("0x0000000000000024"), "power cap, thermal (software)")
        self.assertEqual(machine.throttle_words("0x0000000000000001"), "")  # idle
        self.assertEqual(machine.throttle_words(None), "")


class NvidiaSmi(unittest.TestCase):
    """Against an nvidia-smi that this test writes."""

    def read(self, script, device="gpu:0", visible=""):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "nvidia-smi"
            program.write_text("#!/bin/sh\n" + script)
            program.chmod(0o755)
            changes = {"PATH": folder + os.pathsep + os.environ["PATH"], "CUDA_VISIBLE_DEVICES": visible}
            with unittest.mock.patch.dict(os.environ, changes):
                return machine.read(device)

    def test_one_answer_holds_all_facts(self):
        answer = "NVIDIA H200, 580.1, 1980, 3201, 1980, 40, 100.0, [N/A], 0x0000000000000004, 5, 16"
        facts = self.read(f"echo '{answer}'\n")
        self.assertEqual((facts["name"], facts["link_lanes"]), ("NVIDIA H200", "16"))
        self.assertNotIn("power_limit_w", facts)
        self.assertEqual(machine.throttle_words(facts["throttle_reasons"]), "power cap")

    def test_a_driver_that_knows_fewer_fields_is_asked_one_by_one(self):
        facts = self.read("""case "$*" in
          *,driver*|*event_reasons*) exit 2 ;; *throttle*) echo 0x20 ;; *) echo 7 ;;
        esac\n""")
        self.assertEqual((facts["throttle_reasons"], facts["link_lanes"]), ("0x20", "7"))

    def test_none_and_renumbered_gpus(self):
        self.assertEqual(self.read("exit 9\n"), {})
        self.assertEqual(machine.read("cpu:0"), {})
        script = """case "$1" in --id=3) echo 1,2,3,4,5,6,7,8,9,10,11 ;; *) exit 6 ;; esac\n"""
        facts = self.read(script, "gpu:1", "2,3")
        self.assertEqual(facts["name"], "1")


class Output(unittest.TestCase):
    FACTS = {"begun": "2000-01-01", "device": "cpu:0", "gpu": {}, "systems": {"torch": {"version": "2"}},
             "states": [{}, {}],
             "no_torch": None, "throttled": []}

    def test_quantities(self):
        self.assertEqual(report.quantity(7.851e14, "FLOP/s"), "785.1 TFLOP/s")
        self.assertEqual(report.quantity(1.82e-5, "s"), "18.2 us")
        self.assertEqual(report.quantity(0.961, "share"), "96.1 %")
        self.assertEqual(report.quantity(None, "x"), "-")

    def test_three_files_say_the_same(self):
        rows = [lines.row("m1", RATIO, "x", 6.0), lines.row("m1", STEP, "s", 5e-5),
                lines.row("host", "gpubench, M1, resident batches", "s", None, reason="no GPU")]
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "new"
            report.write(out, rows, self.FACTS, measured_of(torch__m1=[[1.0]]))
            self.assertEqual(json.loads((out / "gpu_peers.json").read_text())["rows"], rows)
            self.assertIn(f"bars: 1 met, 1 missed, 1 not measured\nmissed: m1: {STEP}: 50 us, at most 40 us\n",
                          (out / "gpu_peers.txt").read_text())
            self.assertEqual(len((out / "gpu_peers.csv").read_text().splitlines()), 4)

    def test_a_plan_is_lua(self):
        self.assertEqual(compare.lua_table({"a": [1, 2.5], "b": True, "c": "d"}),
                         '{["a"] = {1, 2.5}, ["b"] = true, ["c"] = "d"}')


class Processes(unittest.TestCase):
    def test_what_a_process_printed_is_taken_at_once_and_stays_when_it_fails(self):
        taken = []

        def take(one, _process):
            taken.append(one)

        script = """echo '{"name": "m1", "samples": [1]}'; echo words; echo '{"name": "m2"}'; echo why >&2; exit 3"""
        with self.assertRaisesRegex(compare.Failed, "sh ended with status 3: why"):
            compare.run(["sh", "-c", script], take)
        self.assertEqual([one["name"] for one in taken], ["m1", "m2"])
        with self.assertRaisesRegex(compare.Failed, "ended with status 0"):
            compare.run(["true"], take)
        with self.assertRaisesRegex(compare.Failed, "No such file"):
            compare.run(["/nowhere"], take)
        with self.assertRaisesRegex(compare.Failed, "sleep was not done after 0.1 s"):
            compare.run(["sleep", "60"], take, timeout=0.1)


class Devices(unittest.TestCase):
    def find(self, printed, device):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "gpubench"
            program.write_text(f"#!/bin/sh\ncat <<'TEXT'\n{printed}\nTEXT\n")
            program.chmod(0o755)
            return compare.find_device(program, device)

    def test_the_program_says_what_there_is(self):
        printed = "gpu:0  NVIDIA H200, 139 GiB, compute capability 9.0\ncpu:0  AMD EPYC, 2 threads"
        self.assertEqual(self.find(printed, "gpu:0"), ("NVIDIA H200", None))
        self.assertEqual(self.find(printed, "gpu:1"), (None, "there is no device gpu:1"))
        self.assertEqual(self.find("no GPU: no driver", "gpu:0"), (None, "no GPU: no driver"))


class Arguments(unittest.TestCase):
    def test_unknown_lines_and_devices_are_refused(self):
        for words in [["--lines", "m9"], ["--device", "gpu"], ["--rounds", "0"]]:
            with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()):
                compare.arguments_from(words)
            self.assertEqual(ended.exception.code, 2)
        self.assertEqual(compare.arguments_from(["--lines", "m1,host"]).lines, ["m1", "host"])


if __name__ == "__main__":
    unittest.main()
