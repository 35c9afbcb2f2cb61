"""Each function of the agent fails in turn, in a job with a stub of PyTorch: the job prints and ends as without it."""
import os
import sys
import unittest

from faults import Faults
from job import LOOP, STUBS, JobTest

JOB = LOOP + """
    print(train().value)
    with torch.autograd.no_grad():
        for batch in torch.utils.data.DataLoader(Digits(), batch_size=16):
            pass
    torch.save([1], os.devnull)
    for _ in range(300):
        train(1)
    if os.fork() == 0:
        print(train(12).value, flush=True)
        os._exit(0)
    os.wait()
    class Broken(Digits):
        def __getitem__(self, index):
            raise ValueError(index)
    next(iter(torch.utils.data.DataLoader(Broken(), batch_size=2)))
"""
LEAST_FAULTS = 200


class EachFunction(JobTest):
    def test_fails(self):
        faults = Faults([sys.executable, self.write("job.py", JOB)], paths=[STUBS], cwd=self.folder,
                        environment={"GPUBENCH_AGENT_WINDOW": "5,3"})
        self.assertEqual(1, faults.plain[2])  # its last line raises
        tried = faults.all()
        self.assertGreaterEqual(len(tried), LEAST_FAULTS)
        self.assertEqual([], [(fault, faults.difference(result))
                              for fault, result in faults.failing(tried, os.cpu_count() or 1)])


if __name__ == "__main__":
    unittest.main()
