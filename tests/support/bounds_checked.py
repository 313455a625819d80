"""Run by test_kernels.py in a process of its own whose kernels check every index: all protocols at telling sizes."""

from support.operations import OPERATIONS, SORTS, fixed_inputs, open_results, same, share_inputs
from support.threads import ThreadParties

if __name__ == "__main__":
    for operation in [*OPERATIONS, *SORTS]:
        for length in (0, 1, 65) if operation in OPERATIONS else (0, 1, 95, 96, 400, 3000):
            values = fixed_inputs(operation, length, seed=length)
            results = ThreadParties().run(operation.program, *share_inputs(operation, values))
            assert same(open_results(results), operation.expected(*values)), (operation.name, length)
    print("all in bounds")
