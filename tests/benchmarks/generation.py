"""Speed and memory of generating emotional features.

    python tests/benchmarks/generation.py

- At [5, 48]: against one sample at a time, by the formula as it is written (four draws a sample).
- At [50, 768]: against one ``torch.randn`` of the same size.
- 10,000 samples of [50, 768], 1.5 GB of features, streamed: the growth of the process's peak memory.
- The time in which a classifier is trained, and the time in which it reads.

Times are the shortest of ``--runs``, alternating. Ends with 1 where a limit is missed: 4 times faster, at most
2 times ``torch.randn``, 512 MiB, 2 minutes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

import torch

from pytest_fairness.design.environment import EmotionParameters, Group, generate
from pytest_fairness.design.students import evaluate
from pytest_fairness.design.training import train

FIRST = EmotionParameters(1.5, 0.3, 0.7, 0.1, True)
GROUP: Group = "alexithymic"
FASTER, TIMES_RANDN, MEBIBYTES, TRAINING = 4, 2, 512, 120
MEMORY = """
import pathlib, re, sys
from pytest_fairness.design.environment import EmotionParameters, generate
first = EmotionParameters(1.5, 0.3, 0.7, 0.1, True)
def total(n):
    return sum(len(batch.labels) for batch in generate(first, n=n, seq_len=50, dim=768, group="alexithymic", seed=1))
def peak():  # ru_maxrss would begin at the peak of the process that started this one
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", pathlib.Path("/proc/self/status").read_text())[1])
import torch
before = peak()
assert total(int(sys.argv[1])) == int(sys.argv[1])
print((peak() - before) / 1024)
"""


def one_at_a_time(
    parameters: EmotionParameters, group: Group, seq_len: int, dim: int, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return one sample [seq_len, dim] by the formula as it is written, and its emotion [3]."""
    size = dim // 3
    emotion = torch.randn(3, generator=generator)
    filled = emotion[torch.arange(size) % 3].expand(seq_len, size)
    semantic = filled * parameters.semantic_strength
    prosodic = torch.randn(seq_len, size, generator=generator) * parameters.prosody_variance(group) + filled
    other = torch.randn(seq_len, dim - 2 * size, generator=generator) * 0.5
    features = torch.cat([semantic, prosodic, other], dim=1)
    return features + torch.randn(seq_len, dim, generator=generator) * parameters.noise_level, emotion


def ours(n: int, seq_len: int, dim: int) -> None:
    for _ in generate(FIRST, n=n, seq_len=seq_len, dim=dim, group=GROUP, seed=1):
        pass


def naive(n: int, seq_len: int, dim: int) -> None:
    generator = torch.Generator().manual_seed(1)
    torch.stack([one_at_a_time(FIRST, GROUP, seq_len, dim, generator)[0] for _ in range(n)])


def fastest(runs: int, *timed: Callable[[], object]) -> list[float]:
    best = [float("inf")] * len(timed)
    for _ in range(runs + 1):
        for index, work in enumerate(timed):
            start = time.perf_counter()
            work()
            best[index] = min(best[index], time.perf_counter() - start)
    return best


def memory(samples: int) -> float:
    """Return the mebibytes by which the peak of a fresh process grows."""
    process = subprocess.run([sys.executable, "-c", MEMORY, str(samples)], capture_output=True, text=True, check=True)
    return float(process.stdout)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--samples", type=int, default=10_000, help="of [50, 768], streamed (default: 10000)")
    arguments = parser.parse_args(argv)
    missed = False

    for n in (100, 1_000, 10_000):
        fast, slow = fastest(arguments.runs, partial(ours, n, 5, 48), partial(naive, n, 5, 48))
        missed |= slow < FASTER * fast
        print(
            f"[{n:6,}, 5, 48]    {fast * 1e3:8.2f} ms; one at a time {slow * 1e3:8.2f} ms, {slow / fast:.1f} times it"
        )
    for n in (64, 256, 2_000):
        fast, plain = fastest(arguments.runs, partial(ours, n, 50, 768), partial(torch.randn, n, 50, 768))
        missed |= fast > TIMES_RANDN * plain
        print(
            f"[{n:6,}, 50, 768]  {fast * 1e3:8.1f} ms; {fast / plain:.2f} times one torch.randn, {plain * 1e3:.1f} ms"
        )
    grown = memory(arguments.samples)
    missed |= grown > MEBIBYTES
    print(f"{arguments.samples:,} samples of [50, 768] streamed: the peak memory grew by {grown:.0f} MiB")
    start = time.perf_counter()
    student = train(seed=1)
    seconds = time.perf_counter() - start
    missed |= seconds > TRAINING
    print(f"a classifier of [5, 48] trained in {seconds:.1f} s")
    for n in (400, 4_000):
        (read,) = fastest(arguments.runs, partial(evaluate, student, FIRST, n=n, seed=1))
        print(f"it reads 2 x {n:,} samples, with verification and generation, in {read * 1e3:.1f} ms")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
