"""What local attention saves, by the length of the source.

One decoder step over S states of width 64: global attention reads all of them, a window of 10 to each side reads 21. For
a short source nothing is saved, and local_p also has to predict its place.
"""

import time

import numpy as np

from chart import line_chart
from lab import table

LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 4096, 16384)
WIDTH, WINDOW, BATCH = 64, 10, 32
KINDS = {"global": {"region": "global"}, "local_m": {"region": "local_m", "window": WINDOW},
         "local_p": {"region": "local_p", "window": WINDOW}}


def run(lab):
    import heed

    numbers = np.random.default_rng(0)
    found = {name: [] for name in KINDS}
    rows = []
    for length in lab.some(LENGTHS):
        keys = numbers.standard_normal((BATCH, length, WIDTH), dtype=np.float32)
        queries = numbers.standard_normal((BATCH, WIDTH), dtype=np.float32)
        best = {}
        memories = {}
        for name, options in KINDS.items():
            attention = heed.Attention("scaled_dot", query_width=WIDTH, key_width=WIDTH, **options)
            memories[name] = (attention, attention.prepare(keys))
        for _ in range(30):  # in turns: whatever else the machine does meets all of them
            for name, (attention, memory) in memories.items():
                begin = time.perf_counter()
                attention.attend(queries, memory, None)
                best[name] = min(best.get(name, 1e9), time.perf_counter() - begin)
        for name in KINDS:
            found[name].append((length, 1e6 * best[name] / BATCH))
        rows.append([length, *(f"{1e6 * best[n] / BATCH:.2f}" for n in KINDS), f"{best['global'] / best['local_p']:.1f}"])
    picture = line_chart("One step over S states", "S", "microseconds", found, log_x=True, log_y=True)
    return table(["S", *(f"{n}, us" for n in KINDS), "global / local_p"], rows), picture
