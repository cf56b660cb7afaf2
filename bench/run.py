#!/usr/bin/env python3
"""Runs the whole benchmark: heed, sgemm, the plain composition and every peer that is installed, interleaved in rounds.

Prints a table and writes build/bench.json: a list of rows
{"case", "threads", "ms", "of_sgemm", "peers": {name: ms}, ...}.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # a benchmark leaves nothing behind in the source tree
import decode_table  # noqa: E402
import document  # noqa: E402
import mechanism_table  # noqa: E402
import report  # noqa: E402
from contestant import Contestant, OtherLoad, machine, say, start_peer, versions  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
# Cases that are timed in the same rounds because their ratio is asked for.
GROUPS = [["window_8k", "window_16k", "global_16k"]]
EXTRA = ["scaling", "memory_16k"]
CASES = [name for name in report.GOALS if name not in EXTRA]


def start_peers(chosen):
    """{name: Contestant} of the peers that some Python here can import."""
    peers = {}
    # PyTorch first: it stands first in the tables.
    for script in sorted((HERE / "peers").glob("*_peer.py"), key=lambda path: (path.stem != "torch_peer", path.stem)):
        label = script.stem.removesuffix("_peer")
        if chosen is not None and label not in chosen:
            continue
        peers.update(start_peer(script, label))
    return peers


def groups_of(cases):
    left = list(cases)
    while left:
        together = next((group for group in GROUPS if left[0] in group), [left[0]])
        group = [name for name in left if name in together]
        left = [name for name in left if name not in group]
        yield group


def run_group(heed, peers, group, options, yardstick_flops):
    """Rows of the cases of one group, for every number of threads."""
    with tempfile.TemporaryDirectory(prefix="heed-bench-") as folder:
        opened = heed.ask(op="open", cases=group, dump=folder if peers else "")
        if "error" in opened:
            return [failed_row(name, threads, opened["error"]) for name in group for threads in options.threads]
        specs = opened["cases"]
        rows, notes, ways = [], {}, {}
        racing = {}  # (peer, case) -> threads at which its results agreed
        for name in group:
            if specs[name].get("plain_difference", 0) > 1e-4:
                note(notes, name, options.threads, f"plain disagrees by {specs[name]['plain_difference']:.1e}")
            if "error" in specs[name] or len(group) > 1 and "window" in name:
                continue
            for label, peer in peers.items():
                reply = peer.ask(op="open", spec=specs[name], folder=specs[name]["dump"], threads=options.threads)
                if "error" in reply:
                    note(notes, name, options.threads, f"{label}: {reply['error']}")
                    continue
                for threads in options.threads:
                    about = reply["threads"][str(threads)]
                    if about.get("agrees"):
                        racing.setdefault((label, name), []).append(threads)
                        ways.setdefault((name, threads), {})[label] = about["way"]
                    elif "skipped" not in about:
                        note(notes, name, [threads], f"{label} disagrees by {about['difference']:.1e}")

        samples, loads = {}, []
        load = OtherLoad([heed, *peers.values()])
        # On a machine that others use as well, up to twice the rounds, until enough of them were quiet.
        while sum(other < report.QUIET for other in loads) < options.rounds and len(loads) < 2 * options.rounds:
            for threads in options.threads:
                times = heed.ask(op="round", threads=threads)
                if "error" in times:
                    return [failed_row(name, n, times["error"]) for name in group for n in options.threads]
                for name, contestants in times["cases"].items():
                    mine = samples.setdefault((name, threads), {})
                    if "sgemm" in times:
                        mine.setdefault("sgemm", []).append(times["sgemm"])
                    for contestant, ms in contestants.items():
                        mine.setdefault(contestant, []).append(ms)
                for (label, name), agreed in racing.items():
                    if threads not in agreed:
                        continue
                    reply = peers[label].ask(op="round", threads=threads)
                    if "ms" in reply:
                        samples[name, threads].setdefault(label, []).append(reply["ms"])
            loads.append(load.since_last())

        for name in group:
            for threads in options.threads:
                if "error" in specs[name]:
                    rows.append(failed_row(name, threads, report.one_line(specs[name]["error"])))
                    continue
                row = report.case_row(specs[name], threads, samples[name, threads], yardstick_flops)
                row["other_load"] = sum(loads) / len(loads)
                row["notes"] = notes.get((name, threads), [])
                row["ways"] = ways.get((name, threads), {})
                rows.append(row)
        return rows


def note(notes, name, threads, text):
    for n in threads:
        notes.setdefault((name, n), []).append(text)


def failed_row(name, threads, reason):
    return {"case": name, "threads": threads, "ms": None, "peers": {}, "error": reason}


def memory_rows(program, options):
    rows = []
    for threads in options.threads:
        results = {}
        for score in ("inner", "tanh_sum"):
            done = subprocess.run(
                [program, "--memory", score, "--threads", str(threads)], stdout=subprocess.PIPE, text=True, check=False
            )
            try:
                results[score] = json.loads(done.stdout)
            except json.JSONDecodeError:
                results[score] = {"error": f"ended with exit code {done.returncode}"}
        rows.append(report.memory_row(threads, results))
    return rows


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="folder of the build (default: build)")
    parser.add_argument("--program", help="the heed-bench to run (default: bench/heed-bench in the build folder)")
    parser.add_argument("--json", help="where the rows go (default: bench.json in the build folder)")
    parser.add_argument("--case", help="only these cases, separated by commas: " + ", ".join(CASES + EXTRA))
    parser.add_argument("--mechanisms", action="store_true", help="every mechanism of the catalogue instead")
    parser.add_argument("--decode", action="store_true", help="one query on long memories instead, a grid of sizes")
    parser.add_argument("--write", help="the document whose table of these cases is replaced (docs/performance.md)")
    parser.add_argument("--threads", help="numbers of threads (default: 1,2)")
    rounds = "quiet rounds of interleaved samples (default: 9; with --mechanisms or --decode 5, with --quick 3)"
    parser.add_argument("--rounds", type=int, help=rounds)
    parser.add_argument("--quick", action="store_true", help="three rounds: a first look, not a measurement")
    parser.add_argument("--peers", help="only these peers, separated by commas; 'none' for none")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a case misses what it must reach")
    options = parser.parse_args()
    options.rounds = options.rounds or (3 if options.quick else 5 if options.mechanisms or options.decode else 9)
    cores = len(os.sched_getaffinity(0))
    options.threads = [int(n) for n in options.threads.split(",")] if options.threads else [1, 2][:cores]
    options.program = options.program or str(pathlib.Path(options.build) / "bench" / "heed-bench")
    grid = "mechanism" if options.mechanisms else "decode" if options.decode else ""
    rows_file = {"mechanism": "bench-mechanisms.json", "decode": "bench-decode.json", "": "bench.json"}[grid]
    options.json = options.json or str(pathlib.Path(options.build) / rows_file)
    known = CASES + EXTRA
    if grid:
        if not os.path.exists(options.program):
            parser.error(f"{options.program} is not there: build it first")
        listed = subprocess.run([options.program, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
        known = [name for name in listed.split() if name.startswith(grid + "_")]
    options.cases = options.case.split(",") if options.case else known
    unknown = [name for name in options.cases if name not in known]
    if unknown:
        parser.error(f"there is no case {', '.join(unknown)}; there are {', '.join(known)}")
    if options.peers is not None:
        options.peers = [] if options.peers == "none" else options.peers.split(",")
    return options


def main():
    options = parse()
    if not os.path.exists(options.program):
        sys.exit(f"{options.program} is not there: build it first")
    began = time.monotonic()
    heed = Contestant([options.program, "--serve"])
    hello = heed.ask(op="hello")
    if "error" in hello:
        sys.exit(f"heed-bench: {hello['error']}")
    say(f"heed: instruction set {hello['isa']} on {machine()['cpu']}; load before the start {os.getloadavg()[0]:.2f}")
    peers = start_peers(options.peers)

    timed = [name for name in options.cases if name not in EXTRA]
    if "scaling" in options.cases:
        timed += [name for name in ("inner_fwd_64", "inner_train") if name not in timed]
    rows = []
    for group in groups_of(timed):
        say(f"[{time.monotonic() - began:4.0f} s] {', '.join(group)}")
        rows += run_group(heed, peers, group, options, hello["yardstick_flops"])
    heed.close()
    for peer in peers.values():
        peer.close()
    report.add_window_ratios(rows)
    if "scaling" in options.cases:
        rows += [row for row in [report.scaling_row(rows)] if row]
    if "memory_16k" in options.cases:
        say(f"[{time.monotonic() - began:4.0f} s] memory_16k")
        rows += memory_rows(options.program, options)
    here = machine()
    theirs = {name: version for name, version in versions(peers).items() if any(name in row["peers"] for row in rows)}
    for row in rows:
        row.update(isa=hello["isa"], **here, versions=theirs)
        report.judge(row)
    say(f"[{time.monotonic() - began:4.0f} s] done")

    report.write_rows(options.json, rows)
    name = "make bench"
    if options.mechanisms:
        name, table = "make bench BENCH_ARGS=--mechanisms", mechanism_table.table(rows)
        for line in mechanism_table.disagreements(rows):
            say(line)
    elif options.decode:
        name, table = "make bench BENCH_ARGS=--decode", decode_table.table(rows, list(theirs))
    else:
        print(report.table(rows, list(peers)), end="\n\n")
        table = report.summary(rows, list(theirs))
    table = f"{report.conditions(here, hello['isa'], theirs)}. \"Times\": how many times as long they take.\n\n{table}"
    print(table)
    if options.write:
        document.write(options.write, name, table)
    missed = [row for row in rows if row.get("error") or row["met"] is False]
    if options.check and missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
