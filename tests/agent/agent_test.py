"""The agent in jobs with a stub of PyTorch: what it records, and that the job goes on as without it whatever
happens."""
import os
import subprocess
import unittest

from counters_file import read_counters
from job import AGENT, LOOP, STUBS, JobTest


class Steps(JobTest):
    def test_steps_sites_and_facts_of_a_loop(self):
        counters, = self.expect_same(LOOP + """
    print(train().value)
    with torch.autograd.no_grad():
        for batch in torch.utils.data.DataLoader(Digits(), batch_size=16):
            pass
    torch.save([1], "checkpoint")
    train(1)
        """, GPUBENCH_AGENT_WINDOW="none")
        self.expect_no_fault()
        self.assertEqual((41, 45), (counters.training, counters.records))
        self.assertEqual("torch optimizer SGD", counters.mark)
        self.assertTrue(counters.script.endswith("job.py"))
        self.assertTrue(counters.ended)
        self.assertEqual([1] * 40 + [2] * 4 + [1], [step["kind"] & 255 for step in counters.steps])
        self.assertEqual([1] * 40, [step["batches"] for step in counters.steps[:40]])
        last = counters.steps[-1]
        self.assertGreater(last["evaluation"], 0)
        self.assertGreater(last["save"], 0)
        self.assertTrue(last["kind"] & 2048 and not counters.steps[5]["kind"] & 2048)
        self.assertTrue(counters.steps[16]["kind"] & 1024 and not counters.steps[17]["kind"] & 1024)
        self.assertEqual(10, counters.sites_since)
        self.assertEqual(32, counters.at(1, "train")[0]["times"])  # `.item()`, behind the tenth of 41 steps
        self.assertEqual(1, len(counters.at(5, "<module>")))
        self.assertEqual(1, len(counters.at(9, "<module>")))
        self.assertTrue(counters.at(3, "__getitem__"))
        loader = self.facts("loader")[0]
        self.assertEqual(("Digits", 4, 0, False),
                         tuple(loader[name] for name in ("dataset", "batch_size", "num_workers", "is_evaluation")))
        self.assertTrue(self.facts("loader")[-2]["is_evaluation"])
        model, = self.facts("model")
        self.assertEqual(("SGD", 1), (model["optimizer"], model["parameters"]))

    def test_own_time_is_written(self):
        self.run_job(LOOP + "    train()", GPUBENCH_AGENT_WINDOW="none")
        counters, = read_counters(self.out)
        self.assertGreater(counters.own, 0)
        self.assertLess(counters.own, counters.steps[-1]["end"])

    MODES = LOOP + """
    def by_hand(evaluates, back=True):
        model = torch.nn.Module([torch.Tensor(1.0)])
        optimizer = torch.optim.SGD(model.parameters())
        for step in range(30):
            if step % 5 == 4:
                evaluates(model)
                time.sleep(0.02)
                if back:
                    model.train()
            model(torch.Tensor(1.0)).backward()
            optimizer.step()
            """

    def evaluations(self, call):
        counters, = self.expect_same(self.MODES + call, GPUBENCH_AGENT_WINDOW="none")
        self.expect_no_fault()
        return [step["evaluation"] > 15000000 for step in counters.steps]

    def test_an_evaluation_by_hand_lies_between_eval_and_train(self):
        expected = [step % 5 == 4 and step > 4 for step in range(30)]  # the model is known from the second step on
        self.assertEqual(expected[5:], self.evaluations("\n    by_hand(lambda model: model.eval())")[5:])

    def test_batches_of_an_evaluation_are_no_progress_of_the_training(self):
        counters, = self.expect_same(LOOP + """
    train(20)
    with torch.autograd.no_grad():
        for batch in torch.utils.data.DataLoader(Digits(), batch_size=16):
            pass
    train(20)
        """, GPUBENCH_AGENT_WINDOW="none")
        trained = sum(step["batches"] for step in counters.steps if step["kind"] & 255 == 1)
        self.assertGreater(sum(step["batches"] for step in counters.steps), trained)
        self.assertEqual(trained, counters.batches)

    def test_a_wait_for_the_steps_before_an_evaluation_is_theirs(self):
        counters, = self.expect_same(LOOP + """
    if "gpubench_agent" in sys.modules:
        from gpubench_agent.recorder import job
        job.settle = lambda: time.sleep(0.2)  # a framework that runs ahead
    train(20)
    with torch.autograd.no_grad():
        for batch in torch.utils.data.DataLoader(Digits(), batch_size=16):
            pass
    train(1)
        """, GPUBENCH_AGENT_WINDOW="none")
        self.expect_no_fault()
        last = counters.steps[-1]
        self.assertGreaterEqual(last["compute"], 200e6)
        self.assertLess(last["agent"], 180e6)
        self.assertLess(last["evaluation"], 180e6)

    def test_a_checkpoint_within_another_counts_once(self):
        counters, = self.expect_same(LOOP + """
    class Trainer:
        def write(self):
            time.sleep(0.3)
        def save(self):
            time.sleep(0.1)
            self.write()
    if "gpubench_agent" in sys.modules:
        from gpubench_agent import saves
        saves.time_saves("write", Trainer, "write")
        saves.time_saves("save", Trainer, "save")
    train(20)
    Trainer().save()
    train(1)
        """, GPUBENCH_AGENT_WINDOW="none")
        self.expect_no_fault()
        last = counters.steps[-1]
        self.assertGreaterEqual(last["save"], 400e6)
        self.assertLess(last["save"], 690e6)  # 700 if the inner one counted twice

    def test_training_in_the_mode_for_evaluation_is_training(self):
        self.assertFalse(any(self.evaluations("\n    by_hand(lambda model: model.eval(), back=False)")))

    def test_calls_that_wait_are_counted_with_weights(self):
        self.expect_same(LOOP + """
    train(21, sync=False)
    tensor = torch.Tensor(1.0)
    for _ in range(5000):
        tensor.item()
        """, GPUBENCH_AGENT_WINDOW="none")
        counters, = read_counters(self.out)
        site, = counters.at(1, "<module>")
        self.assertTrue(4900 <= site["times"] <= 5100, site["times"])

    def test_window_fails_without_a_profiler_and_says_so(self):
        counters, = self.expect_same(LOOP + "    train()", GPUBENCH_AGENT_WINDOW="3,4")
        self.assertEqual(3, counters.window)
        self.assertIn("failed", self.facts("window")[0])

    def test_steps_on_kept_batches(self):
        self.run_job(LOOP + "    train()", GPUBENCH_AGENT_WINDOW="none", GPUBENCH_AGENT_PROVE="10")
        counters, = read_counters(self.out)
        self.expect_no_fault()
        self.assertEqual(2, counters.prove)
        self.assertEqual(10, sum(1 for step in counters.steps if step["kind"] & 4096))

    def test_ranks_come_from_the_environment(self):
        self.run_job(LOOP + "    train(2)", RANK="3", WORLD_SIZE="4", LOCAL_RANK="1")
        self.assertEqual(3, read_counters(self.out)[0].rank)


class Remedies(JobTest):
    def test_each_is_judged_once(self):
        self.run_job(LOOP + "    train()", GPUBENCH_AGENT_WINDOW="none")
        judged = {fact["name"]: fact for fact in self.facts("remedy")}
        self.assertEqual(len(judged), len(self.facts("remedy")))
        self.assertFalse(judged["pin_memory"]["applies"])
        self.assertIn("CPU", judged["pin_memory"]["why_not"])
        self.assertTrue(all(fact["lines"] if fact["applies"] else fact["why_not"] for fact in judged.values()))
        self.assertNotIn("jit_compile", judged)

    def value_of_workers(self, loads):
        self.run_job(LOOP.replace("return torch.Tensor(float(index))", loads + "; return torch.Tensor(float(index))")
                     + "    train()", GPUBENCH_AGENT_WINDOW="none")
        judged = [fact for fact in self.facts("remedy") if fact["name"] == "workers"]
        return max(judged, key=lambda fact: fact["at"])["value"]

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor")
    def test_workers_are_more_than_processors_where_loading_waits(self):
        processors = len(os.sched_getaffinity(0))
        self.assertEqual(min(8, processors), self.value_of_workers("sum(range(100000))"))
        self.assertEqual(8, self.value_of_workers("time.sleep(0.005)"))

    def test_one_is_applied(self):
        self.run_job(LOOP + """
    print(torch.utils.data.DataLoader(Digits()).num_workers)
    """, GPUBENCH_AGENT_REMEDIES="workers=3")
        self.assertEqual(["workers"], [fact["name"] for fact in self.facts("remedy") if fact["applied"]])

    def test_an_unknown_one_is_said(self):
        self.expect_same(LOOP + "    train(2)", GPUBENCH_AGENT_REMEDIES="nonsense")
        self.assertIn("no such remedy", self.facts("remedy")[0]["why_not"])


class Faults(JobTest):
    """The agent's faults stay its own."""

    def broken(self, patch):
        return LOOP + """
    import gpubench_agent.torch_data, gpubench_agent.recorder, gpubench_agent.sampler, gpubench_agent.torch_model
    def fails(*_, **__):
        raise RuntimeError("a fault of the agent")
    if "GPUBENCH_AGENT" in os.environ:
        %s
    print(train().value)
        """ % patch

    def expect_fault(self, patch, where):
        without = self.run_job(LOOP + "    print(train().value)", agent=False)
        beside = self.run_job(self.broken(patch), GPUBENCH_AGENT_WINDOW="none")
        self.assertEqual((0, without.stdout, b""), (beside.returncode, beside.stdout, beside.stderr))
        self.assertIn(where, {fact["where"] for fact in self.facts("fault")})

    def test_in_the_hook_of_the_loader(self):
        self.expect_fault("gpubench_agent.torch_data.after_batch = fails", "DataLoader.__next__")

    def test_before_a_batch(self):
        self.expect_fault("gpubench_agent.torch_data.before_batch = fails", "DataLoader.__next__")

    def test_in_the_mark(self):
        self.expect_fault("gpubench_agent.recorder.Job.record = fails", "Optimizer.step, after")

    def test_in_sites(self):
        self.expect_fault("gpubench_agent.recorder.Job.site = fails", "DataLoader.__next__")

    def test_in_facts_of_the_model(self):
        self.expect_fault("gpubench_agent.torch_model.describe = fails", "the model's description")
        self.assertEqual(40, read_counters(self.out)[0].training)

    def test_in_the_sampler(self):
        self.expect_fault("gpubench_agent.sampler.Sampler.look = fails; torch.optim.SGD.step = "
                          "(lambda step: lambda self: (time.sleep(0.01), step(self)))(torch.optim.SGD.step)", "sampler")

    def test_a_framework_without_what_is_hooked(self):
        self.write("other/torch/__init__.py", "__version__ = '9'")
        for name in ("keras", "tensorflow", "jax"):
            self.write("other/%s.py" % name, "__version__ = '9'")
        done = self.run_job("import torch, keras, tensorflow, jax\nprint(torch.__version__)",
                            paths=(os.path.join(self.folder, "other"),))
        self.assertEqual((0, b"9\n", b""), (done.returncode, done.stdout, done.stderr))
        self.assertTrue(self.facts("fault"))

    def test_a_framework_that_fails_to_import(self):
        self.write("other/torch/__init__.py", "raise ImportError('no library')")
        self.expect_same("import torch", paths=(os.path.join(self.folder, "other"),))

    def test_probes_do_not_use_up_the_hook(self):
        counters, = self.expect_same("    import importlib.util\n    importlib.util.find_spec('torch')" + LOOP +
                                     "    train(3)")
        self.assertEqual(3, counters.training)


class Ends(JobTest):
    def test_ways_to_end(self):
        for number, end in enumerate(("os._exit(7)", "sys.exit(3)", "os.kill(os.getpid(), 15)",
                                      "os.kill(os.getpid(), 9)", "os.abort()", "raise KeyError('gone')",
                                      "raise KeyboardInterrupt", "[][1]")):
            self.out = os.path.join(self.folder, "out%d" % number)
            os.mkdir(self.out)
            with self.subTest(end):
                counters, = self.expect_same(LOOP + "    train(30)\n    " + end)
                self.assertEqual(30, counters.training)

    def test_an_exception_in_the_data_shows_no_frame_of_the_agent(self):
        self.expect_same(LOOP + """
    class Broken(Digits):
        def __getitem__(self, index):
            raise ValueError("sample %d" % index)
    for batch in torch.utils.data.DataLoader(Broken(), batch_size=2):
        pass
        """)

    def test_warnings_name_the_line_of_the_user(self):
        done = self.run_job(LOOP + """
    import warnings
    from gpubench_agent import guard
    class Library:
        def old(self):
            warnings.warn("old", stacklevel=2)
    guard.around("Library.old", Library, "old", after=lambda *_: None)
    Library().old()
        """)
        self.assertRegex(done.stderr.decode(), r"job.py:\d+: UserWarning: old\n  Library\(\).old\(\)")

    def test_signals_of_the_user(self):
        self.expect_same(LOOP + """
    import signal
    signal.signal(signal.SIGALRM, lambda *_: print("alarm"))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    train(200)
    time.sleep(0.05)
        """)

    def test_random_numbers(self):
        self.expect_same("    import random\n    random.seed(3)" + LOOP + "    train(50)\n    print(random.random())")


class Folders(JobTest):
    def test_none(self):
        for out in (os.path.join(self.folder, "missing"), "/proc/nowhere", "/dev/full", "relative/none"):
            with self.subTest(out):
                self.expect_same(LOOP + "    print(train().value)", out=out)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_no_permission(self):
        os.chmod(self.out, 0o500)
        self.expect_same(LOOP + "    print(train().value)")

    @unittest.skipUnless(os.geteuid() == 0, "only root may mount a file system")
    def test_a_full_disk(self):
        small = os.path.join(self.folder, "small")
        os.mkdir(small)
        for size in ("4k", "64k", "1m"):
            if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "none", small],
                              stderr=subprocess.DEVNULL).returncode:
                self.skipTest("no file system can be mounted here")
            try:
                self.expect_same(LOOP + "    print(train().value)", out=small)
                self.assertEqual([], read_counters(small))
                self.assertEqual([], [name for name in os.listdir(small) if name.endswith(".new")])
            finally:
                subprocess.run(["umount", small], check=True)

    def test_files_that_are_deleted_meanwhile(self):
        self.expect_same(LOOP + """
    train(5)
    import shutil
    shutil.rmtree(os.environ.get("GPUBENCH_AGENT", "nothing"), ignore_errors=True)
    print(train(40).value)
        """)

    def test_without_a_folder_nothing_happens(self):
        done = self.run_job("import sys\nprint('gpubench_agent' in sys.modules)", agent=False, paths=(AGENT, STUBS))
        self.assertEqual(b"False\n", done.stdout)


class Chained(JobTest):
    def chained(self, text):
        self.write("theirs/sitecustomize.py", text)
        theirs = os.path.join(self.folder, "theirs")
        self.expect_same("import sitecustomize, sys\nprint(sitecustomize.__file__)\nsys.exit(2)",
                         paths=(theirs, STUBS))
        return theirs

    def test_the_users_own(self):
        theirs = self.chained("print('theirs')")
        self.assertEqual([os.path.join(theirs, "sitecustomize.py")], [fact["path"] for fact in self.facts("chained")])

    def test_one_that_fails(self):
        self.write("theirs/sitecustomize.py", "import nonsense")
        done = self.run_job("print('runs')", paths=(os.path.join(self.folder, "theirs"),))
        self.assertEqual((0, b"runs\n"), (done.returncode, done.stdout))
        self.assertIn(b"nonsense", done.stderr)

    def test_behind_an_agent_that_is_broken(self):
        broken = os.path.join(self.folder, "agent")
        os.makedirs(os.path.join(broken, "gpubench_agent"))
        with open(os.path.join(AGENT, "sitecustomize.py")) as file:
            self.write("agent/sitecustomize.py", file.read())
        self.write("agent/gpubench_agent/__init__.py", "raise RuntimeError('broken')")
        self.write("theirs/sitecustomize.py", "print('theirs')")
        done = self.run_job("print('runs')", agent=False, GPUBENCH_AGENT=self.out,
                            paths=(broken, os.path.join(self.folder, "theirs")))
        self.assertEqual((0, b"theirs\nruns\n", b""), (done.returncode, done.stdout, done.stderr))


if __name__ == "__main__":
    unittest.main()
