#!/usr/bin/env python3
"""Searches with a trained Transformer, with heed, PyTorch and CTranslate2, in turns, and says how much faster heed is.

heed's float32 is what all are compared with. With weights in int8 a few outputs change: how many stay the same is in
the table, beside the speed.

Prints a table and writes build/bench-predict.json: a list of rows
{"case", "threads", "sentences_per_s", "peers": {name: sentences_per_s}, ...}.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from random import Random

sys.dont_write_bytecode = True  # a benchmark leaves nothing behind in the source tree
from contestant import Contestant, OtherLoad, ask, machine, say, start_peer, versions  # noqa: E402
import report  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CASES = {"greedy": 1, "beam_5": 5}
AGREE = 0.97  # share of the outputs that must be the same before a peer is timed; rounding decides between near ties
AGREE_ROUNDED = 0.7  # of a peer with weights in int8: what may be lost is for its users to say
LONGEST = 100  # tokens of an output, as kLongest of predict/main.cc
START_ROUNDS = 15

# case -> (must, aim), as in report.py
GOALS = {
    "greedy": ({"vs_torch": ">= 3"}, {"vs_torch": ">= 6"}),
    "beam_5": ({"vs_torch": ">= 3"}, {"vs_torch": ">= 6"}),
    "start": ({"ms": "<= 100"}, {"ms": "<= 30"}),
    "memory": ({"above_model_mb": "<= 50"}, {}),
}
AIM_OPTIONAL = {"vs_ctranslate2": ">= 1.2", "int8_vs_ctranslate2_int8": ">= 1.3"}  # counts where that peer is installed


def made_up(folder):
    """Sentences with the lengths and the number of words of Multi30k; a target is its source."""
    folder.mkdir(parents=True, exist_ok=True)
    random = Random(1)
    for name, count in (("train", 29000), ("valid", 200), ("test.2016", 1000)):
        lines = []
        for _ in range(count):
            length = 4 + random.randrange(10) + random.randrange(11)
            lines.append(" ".join(f"w{int(9708 ** random.random())}" for _ in range(length)) + "\n")
        for side in ("en", "de"):
            (folder / f"{name}.{side}").write_text("".join(lines), encoding="utf-8")
    return folder


def find_sources(folder):
    for name in ("test.2016.en", "test_2016_flickr.en", "test.en"):
        if (folder / name).exists():
            return str(folder / name)
    sys.exit(f"{folder} holds no test.2016.en, test_2016_flickr.en or test.en: --sources names the file")


def prepare(options):
    """A model and sources where none were named: Transformer-Tiny, trained for a few minutes and kept."""
    build = pathlib.Path(options.build)
    if options.model and options.sources:
        return
    data = pathlib.Path(options.data) if options.data else made_up(build / "bench-data")
    options.sources = options.sources or find_sources(data)
    if options.model:
        return
    model = build / ("bench-model-files" if options.data else "bench-model-made-up")
    options.model = str(model)
    if (model / "log.jsonl").exists():
        return
    say(f"training a Transformer-Tiny for {options.minutes} minutes; --model takes one that is there")
    subprocess.run(
        [str(build / "cli" / "heed"), "train", str(HERE.parent / "recipes" / "multi30k-en-de" / "transformer.toml"),
         "--set", f"data.folder={data}", "--set", f"stop.minutes={options.minutes}", "--set", "train.warmup=400",
         "--set", "train.learning_rate=0.002", "--set", "validate.every=100000", "--output", str(model)],
        check=True, stdout=subprocess.DEVNULL)


def run_cases(heed, peers, options):
    with tempfile.TemporaryDirectory(prefix="bench-predict-", dir=pathlib.Path(options.build).resolve()) as folder:
        opened = ask(heed, op="open", model=options.model, sources=options.sources, folder=folder)
        for label, peer in peers.items():
            here = {"model": options.model, "sources": options.sources} if label == "heed int8" else {"folder": folder}
            ask(peer, op="open", **here, **({"precision": "int8"} if label.endswith("int8") else {}))
        rows, agreeing = [], dict(peers)
        for name, beam in CASES.items():
            say(f"{name}")
            ours = ask(heed, op="run", threads=max(options.threads), beam=beam, outputs=True)["outputs"]
            same = {}
            for label, peer in list(agreeing.items()):
                theirs = ask(peer, op="run", threads=max(options.threads), beam=beam, outputs=True)["outputs"]
                same[label] = sum(a == b for a, b in zip(ours, theirs)) / len(ours)
                say(f"{name}: {label} has the same outputs for {100 * same[label]:.1f} % of the sentences")
                # A beam may end by another rule in a peer, so only greedy outputs, which come first, must be the same.
                if beam == 1 and same[label] < (AGREE_ROUNDED if label.endswith("int8") else AGREE):
                    say(f"{label} is not timed: it is another model")
                    del agreeing[label]
            contestants = {"heed": heed, **agreeing}
            samples, loads = {}, []
            load = OtherLoad([heed, *peers.values()])
            while sum(other < report.QUIET for other in loads) < options.rounds and len(loads) < 2 * options.rounds:
                for threads in options.threads:
                    for label, contestant in contestants.items():
                        reply = ask(contestant, op="run", threads=threads, beam=beam)
                        samples.setdefault((threads, label), []).append(reply["sentences"] / reply["seconds"])
                loads.append(load.since_last())
            if sum(loads) > report.QUIET * len(loads):
                say(f"{name}: others kept {sum(loads) / len(loads):.1f} cores busy, so its ratios say little")
            for threads in options.threads:
                best = {label: max(samples[threads, label]) for label in contestants}
                row = {
                    "case": name, "threads": threads, "sentences_per_s": best.pop("heed"), "peers": best,
                    "sentences_per_s_median": statistics.median(samples[threads, "heed"]),
                    "same_outputs": same, "parameters": opened["parameters"], "rounds": len(loads),
                    "other_load": sum(loads) / len(loads),
                }
                for label, speed in best.items():
                    row[f"vs_{label}"] = row["sentences_per_s"] / speed
                    row.setdefault(f"vs_{label.split()[0]}", row[f"vs_{label}"])  # of several versions the first
                if "heed int8" in best and "ctranslate2 int8" in best:
                    row["int8_vs_ctranslate2_int8"] = best["heed int8"] / best["ctranslate2 int8"]
                rows.append(row)
        return rows


def start_row(program, model, line):
    """From the start of `heed predict` to its first output, with the pipe still open."""
    times = []
    for _ in range(START_ROUNDS):
        begin = time.perf_counter()
        with subprocess.Popen([program, "predict", model], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            process.stdout.readline()
            times.append(1e3 * (time.perf_counter() - begin))
            process.stdin.close()
    return {"case": "start", "threads": None, "sentences_per_s": None, "peers": {}, "ms": min(times),
            "ms_median": statistics.median(times)}


def memory_row(program, model, sources):
    """Peak of `heed predict` on all sources, above the bytes of its weights."""
    script = ("import resource, subprocess, sys; "
              "subprocess.run(sys.argv[1:], stdin=open(sys.argv[-1]), stdout=subprocess.DEVNULL, check=True); "
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024e-6)")
    command = [sys.executable, "-c", script.replace("sys.argv[1:]", "sys.argv[1:-1]"), program, "predict", model, sources]
    peak = float(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    weights = max(path.stat().st_size for path in pathlib.Path(model).rglob("weights.safetensors")) * 1e-6
    return {"case": "memory", "threads": None, "sentences_per_s": None, "peers": {}, "peak_mb": peak,
            "model_mb": weights, "above_model_mb": peak - weights}


def table(rows):
    lines = ["| case | threads | sentences/s | against peers | what it must reach |", "|---|---|---|---|---|"]
    for row in rows:
        against = ", ".join(f"{row[f'vs_{n}']:.2f}x ({speed:,.1f}; {n})" for n, speed in row["peers"].items())
        value = (f"{row['ms']:.1f} ms" if "ms" in row else f"{row['peak_mb']:.0f} MB, model {row['model_mb']:.0f} MB"
                 if "peak_mb" in row else f"{row['sentences_per_s']:,.1f}")
        goal = ", ".join(row["must"].values())
        lines.append(f"| {row['case']} | {row['threads'] or ''} | {value} | {against} | {goal} {report.verdict(row)} |")
    return "\n".join(lines)


def document_table(rows):
    """For docs/performance.md: a line for each case and number of threads."""
    rows = [row for row in rows if row["sentences_per_s"]]
    peers = list(dict.fromkeys(name for row in rows for name in row["peers"]))
    head = ["case", "threads", "sentences/s"]
    head += [cell for name in peers for cell in (report.NAMES.get(name, name), "ratio", "the same outputs")]
    lines = []
    for row in rows:
        line = [row["case"], str(row["threads"]), f"{row['sentences_per_s']:,.1f}"]
        for name in peers:
            there = name in row["peers"]
            line += [f"{row['peers'][name]:,.1f}", f"{row['vs_' + name]:.2f}x",
                     f"{100 * row['same_outputs'][name]:.1f} %"] if there else ["", "", ""]
        lines.append(line)
    return report.markdown(head, lines)


def model_options(target):
    """A parser with the options that prepare() reads, and those of every benchmark of a trained model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build", help="folder of the build (default: build)")
    parser.add_argument("--json", help=f"where the rows go (default: {target}.json in the build folder)")
    parser.add_argument("--model", help="folder of a trained Transformer (sin-cos, relu); else one is trained")
    parser.add_argument("--sources", help="file with sources, one a line, as the model was trained on")
    parser.add_argument("--data", help="folder with Multi30k's train.*, valid.* and test.2016.en, to train and test on; "
                        "without it sentences of the same lengths are made up")
    parser.add_argument("--minutes", type=float, default=4, help="to train where no model is named (default: 4)")
    parser.add_argument("--no-peers", action="store_true", help="heed alone")
    parser.add_argument("--write", help="the document whose table is replaced (docs/performance.md)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a case misses what it must reach")
    return parser


def parse():
    parser = model_options("bench-predict")
    parser.description = __doc__.splitlines()[0]
    parser.add_argument("--demo", help="folder of heed demo's model: how long heed predict takes to start with it")
    parser.add_argument("--threads", help="numbers of threads (default: 1,2)")
    parser.add_argument("--rounds", type=int, default=3, help="quiet rounds of interleaved samples (default: 3)")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    options.threads = [int(n) for n in options.threads.split(",")] if options.threads else [1, 2][:cores]
    options.json = options.json or str(pathlib.Path(options.build) / "bench-predict.json")
    return options


def main():
    options = parse()
    prepare(options)
    heed_program = [str(pathlib.Path(options.build) / "bench" / "heed-bench-predict")]
    heed = Contestant(heed_program)
    hello = ask(heed, op="hello")
    here = machine()
    say(f"heed: instruction set {hello['isa']} on {here['cpu']}; load before the start {os.getloadavg()[0]:.2f}")
    peers = {}
    if not options.no_peers:
        peers = {**start_peer(HERE / "peers" / "torch_search.py", "torch"),
                 **start_peer(HERE / "peers" / "ctranslate2_search.py", "ctranslate2"),
                 **start_peer(HERE / "peers" / "ctranslate2_search.py", "ctranslate2 int8")}
    others = versions(peers)
    peers["heed int8"] = Contestant(heed_program)
    rows = run_cases(heed, peers, options)
    heed.close()
    for peer in peers.values():
        peer.close()
    program = str(pathlib.Path(options.build) / "cli" / "heed")
    if options.demo:
        rows.append(start_row(program, options.demo, "5 mars 2024"))
    rows.append(memory_row(program, options.model, options.sources))
    for row in rows:
        row.update(isa=hello["isa"], **here, versions=others)
        must, aim = GOALS[row["case"]]
        optional = {field: goal for field, goal in AIM_OPTIONAL.items() if field in row}
        report.judge_beside_peers(row, (must, {**aim, **optional}))
    report.publish(options, "bench-predict", rows, report.conditions(here, hello["isa"], others),
                   (table(rows), document_table(rows)))


if __name__ == "__main__":
    main()
