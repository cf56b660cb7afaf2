#!/usr/bin/env python3
"""Quality against speed: a model that writes step by step beside one of the same size that writes all positions at once.

Runs `heed predict` with both models on the same sources, in turns: greedy and with a beam of 5, and with 1, 2, 4 and 10
passes (and 4 passes for 3 lengths); one sentence at a time and in batches. Prints a table, and writes
build/bench-parallel.json, a list of rows {"model", "search", "batch", "threads", "quality", "sentences_per_s",
"vs_greedy"}, and build/bench-parallel.svg, the curve of quality against speed. Times are without that of loading the
model.
"""

import argparse
import json
import math
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # a benchmark leaves nothing behind in the source tree
from contestant import machine, say  # noqa: E402

STEPS = {"greedy": ["--beam", "1"], "beam 5": ["--beam", "5"]}
PASSES = {f"{n} pass{'es' if n > 1 else ''}": ["--iterations", str(n)] for n in (1, 2, 4, 10)}
LENGTHS = {"4 passes, 3 lengths": ["--iterations", "4", "--lengths", "3"]}  # beside the curve of the passes
GOAL = ("1 pass", 1, 2.5)  # search, batch, times the speed of greedy search: must


def run(options, model, search, batch, sources):
    """(seconds, outputs). One thread: of processor time, which other load on the machine does not stretch."""
    command = [str(pathlib.Path(options.build) / "cli" / "heed"), "predict", model, str(sources), *search,
               "--batch", str(batch), "--threads", str(options.threads)]
    began = clock(options)
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return clock(options) - began, done.stdout


def clock(options):
    if options.threads > 1:
        return time.perf_counter()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def first_lines(path, count):
    return pathlib.Path(path).read_bytes().splitlines(keepends=True)[:count]


def quality(options, outputs):
    """Of outputs, by `heed evaluate`."""
    with tempfile.TemporaryDirectory() as folder:
        said, right = pathlib.Path(folder) / "said", pathlib.Path(folder) / "right"
        said.write_bytes(outputs)
        right.write_bytes(b"".join(first_lines(options.references, options.sentences)))
        command = [str(pathlib.Path(options.build) / "cli" / "heed"), "evaluate", "--hypotheses", str(said),
                   "--references", str(right), "--metric", options.metric, "--json", *options.evaluate.split()]
        said = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return said["metrics"][0]["score"]


def cases(options):
    for batch in (1, options.batch):
        for name, search in STEPS.items():
            yield ("step by step", options.steps, name, search, batch)
        for name, search in {**PASSES, **LENGTHS}.items():
            yield ("parallel", options.parallel, name, search, batch)


def measure(options):
    """Rows, from rounds in which every case has its turn."""
    every = list(cases(options))
    times, outputs = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        nothing, few = pathlib.Path(folder) / "nothing", pathlib.Path(folder) / "few"
        nothing.write_bytes(b"")
        lines = first_lines(options.sources, options.sentences)
        few.write_bytes(b"".join(lines))
        for n in range(options.rounds):
            for case in every:
                _, model, name, search, batch = case
                empty, _ = run(options, model, search, batch, nothing)
                seconds, said = run(options, model, search, batch, few)
                times.setdefault((model, name, batch), []).append(max(seconds - empty, 1e-6))
                outputs[(model, name)] = said
            say(f"round {n + 1} of {options.rounds}")
    found = {key: quality(options, said) for key, said in outputs.items()}
    rows = []
    for kind, model, name, _, batch in every:
        speed = len(lines) / statistics.median(times[(model, name, batch)])
        ratios = [a / b for a, b in zip(times[(options.steps, "greedy", batch)], times[(model, name, batch)])]
        rows.append({"model": kind, "search": name, "batch": batch, "threads": options.threads,
                     "quality": found[(model, name)], "sentences_per_s": speed,
                     "vs_greedy": statistics.median(ratios)})
    return rows


def table(rows, metric):
    lines = [f"{'model':14}{'search':18}{'batch':>6}{metric:>9}{'sentences/s':>13}{'x greedy':>10}"]
    for row in rows:
        lines.append(f"{row['model']:14}{row['search']:18}{row['batch']:>6}{row['quality']:>9.2f}"
                     f"{row['sentences_per_s']:>13.1f}{row['vs_greedy']:>10.2f}")
    return "\n".join(lines)


def svg(rows, metric):
    """One panel for each size of batch: quality upwards, sentences/s to the right, on a logarithmic scale."""
    width, height, left, top = 420, 300, 60, 40
    batches = sorted({row["batch"] for row in rows})
    lowest = math.floor(min(row["quality"] for row in rows)) - 1
    highest = math.ceil(max(row["quality"] for row in rows)) + 1
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{len(batches) * (width + left) + 20}" '
             f'height="{height + 100}" font-family="sans-serif" font-size="12">'
             '<rect width="100%" height="100%" fill="white"/>']
    for panel, batch in enumerate(batches):
        some = [row for row in rows if row["batch"] == batch]
        low = math.log10(min(row["sentences_per_s"] for row in some)) - 0.1
        high = math.log10(max(row["sentences_per_s"] for row in some)) + 0.2
        x0 = left + panel * (width + left)

        def at(row):
            x = x0 + (math.log10(row["sentences_per_s"]) - low) / (high - low) * (width - 20)
            return x, top + (highest - row["quality"]) / (highest - lowest) * height

        title = "one sentence at a time" if batch == 1 else f"batches of {batch}"
        parts.append(f'<text x="{x0}" y="22" font-weight="bold">{title}</text>'
                     f'<path d="M{x0} {top}V{top + height}H{x0 + width - 20}" fill="none" stroke="#444"/>')
        for tick in range(lowest, highest + 1, max(1, (highest - lowest) // 6)):
            y = top + (highest - tick) / (highest - lowest) * height
            parts.append(f'<text x="{x0 - 8}" y="{y + 4}" text-anchor="end">{tick}</text>'
                         f'<path d="M{x0} {y}H{x0 + width - 20}" stroke="#eee"/>')
        for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000):
            if low <= math.log10(tick) <= high:
                x = x0 + (math.log10(tick) - low) / (high - low) * (width - 20)
                parts.append(f'<text x="{x}" y="{top + height + 18}" text-anchor="middle">{tick}</text>')
        parts.append(f'<text x="{x0 + width / 2}" y="{top + height + 38}" text-anchor="middle">sentences/s</text>')
        for kind, colour in (("step by step", "#c0392b"), ("parallel", "#2471a3")):
            points = [(at(row), row["search"]) for row in some if row["model"] == kind]
            joined = " ".join(f"{x:.1f},{y:.1f}" for (x, y), name in points if name not in LENGTHS)
            parts.append(f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-dasharray="3 3"/>')
            for (x, y), name in points:
                parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
                             f'<text x="{x + 6:.1f}" y="{y - (20 if name in LENGTHS else 6):.1f}" '
                             f'fill="{colour}">{name}</text>')
    parts.append(f'<text x="14" y="{top - 8}">{metric}</text>'
                 f'<text x="{left}" y="{height + 90}" fill="#c0392b">step by step</text>'
                 f'<text x="{left + 100}" y="{height + 90}" fill="#2471a3">all positions at once</text></svg>')
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--steps", required=True, help="a model that writes step by step")
    parser.add_argument("--parallel", required=True, help="one of the same size that writes all positions at once")
    parser.add_argument("--sources", required=True, help="a file of sources")
    parser.add_argument("--references", required=True, help="the right outputs")
    parser.add_argument("--metric", default="bleu")
    parser.add_argument("--evaluate", default="", help="more options of heed evaluate, such as '--tokenise none --remove-bpe'")
    parser.add_argument("--sentences", type=int, default=None, help="only the first ones")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows = measure(options)
    print(table(rows, options.metric))
    build = pathlib.Path(options.build)
    (build / "bench-parallel.json").write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
    (build / "bench-parallel.svg").write_text(svg(rows, options.metric))
    say(f"wrote {build / 'bench-parallel.json'} and {build / 'bench-parallel.svg'}")
    search, batch, least = GOAL
    fastest = next(row for row in rows if row["search"] == search and row["batch"] == batch)
    verdict = "reached" if fastest["vs_greedy"] >= least else "MISSED"
    print(f"must: {search}, one sentence at a time, >= {least} x greedy search: {fastest['vs_greedy']:.2f}, {verdict}")


if __name__ == "__main__":
    main()
