#!/usr/bin/env python3
"""Trains the same models with heed and with PyTorch, in turns, and says how much faster heed is.

Prints a table and writes build/bench-train.json: a list of rows
{"case", "threads", "tokens_per_s", "peers": {name: tokens_per_s}, ...}.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # a benchmark leaves nothing behind in the source tree
from contestant import Contestant, OtherLoad, ask, machine, say, start_peer, versions  # noqa: E402
import report  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
COMPARED = 4  # updates without dropout whose losses must agree
LOSS_TOLERANCE = 2e-4  # of a loss, after as many updates; the first one agrees to about 1e-7
PER_ROUND = 2  # updates of each contestant
LARGE = {"transformer_base"}  # an update takes seconds and gigabytes: one is a sample, and few rounds will do
LARGE_ROUNDS = 3
MEMORY_CASE = "transformer_tiny"

# case -> (must, aim), as in report.py
GOALS = {
    "transformer_tiny": ({"vs_torch": ">= 2.4"}, {"vs_torch": ">= 3"}),
    "transformer_base": ({"vs_torch": ">= 1.3"}, {"vs_torch": ">= 1.6"}),
    "gru_additive": ({"vs_torch": ">= 2.3"}, {"vs_torch": ">= 3"}),
    "lstm_key_value": ({"vs_torch": ">= 2"}, {"vs_torch": ">= 4"}),
    "transformer_text": ({"vs_torch": ">= 2"}, {"vs_torch": ">= 4"}),
    "han": ({"vs_torch": ">= 2"}, {"vs_torch": ">= 4"}),
    "han_equal": ({}, {}),
    "han_unequal": ({"of_equal": ">= 0.9"}, {}),
    "memory": ({"peak_mb": "<= 1000"}, {"peak_mb": "<= 500"}),
    "scaling": ({"times": ">= 1.7"}, {"times": ">= 1.9"}),
    "profile": ({}, {"rest": "<= 0.15"}),
}


def agree(ours, theirs):
    return len(ours) == len(theirs) and all(abs(a - b) <= LOSS_TOLERANCE * abs(b) for a, b in zip(ours, theirs))


def run_case(heed, peers, name, options):
    """Rows of one case, for every number of threads; the profile among them."""
    with tempfile.TemporaryDirectory(prefix="heed-bench-train-") as folder:
        updates = 1 if name in LARGE else PER_ROUND
        rounds = min(options.rounds, LARGE_ROUNDS) if name in LARGE else options.rounds
        most_rounds = 2 * rounds + 1

        def training(threads):
            """One for each number of threads, on the same batches; of a large model one for all, to save memory."""
            return 0 if name in LARGE else threads

        opened = ask(heed, op="open", case=name, data=options.data, folder=folder,
                     batches=max(COMPARED, updates * most_rounds * (len(options.threads) if name in LARGE else 1)))
        ours = ask(heed, op="losses", updates=COMPARED)["losses"]
        losses, racing = {"heed": ours}, {}
        for label, peer in peers.items():
            ask(peer, op="open", folder=folder)
            losses[label] = ask(peer, op="losses", updates=COMPARED)["losses"]
            if agree(ours, losses[label]):
                racing[label] = peer
            else:
                say(f"{name}: the losses of {label} are others: {losses[label]} against {ours}")
        contestants = {"heed": heed, **racing}
        for contestant in contestants.values():  # memory is taken, code is loaded
            for threads in options.threads:
                ask(contestant, op="run", threads=threads, updates=updates, training=training(threads))

        samples, loads = {}, []
        load = OtherLoad([heed, *peers.values()])
        while sum(other < report.QUIET for other in loads) < rounds and len(loads) < most_rounds - 1:
            for threads in options.threads:
                for label, contestant in contestants.items():
                    reply = ask(contestant, op="run", threads=threads, updates=updates, training=training(threads))
                    samples.setdefault((threads, label), []).append(reply["tokens"] / reply["seconds"])
            loads.append(load.since_last())

        rows = []
        for threads in options.threads:
            best = {label: max(samples[threads, label]) for label in contestants}
            row = {
                "case": name,
                "threads": threads,
                "tokens_per_s": best.pop("heed"),
                "peers": best,
                "tokens_per_s_median": statistics.median(samples[threads, "heed"]),
                "parameters": opened["parameters"],
                "vocabulary": opened["vocabulary"],
                "rounds": len(loads),
                "other_load": sum(loads) / len(loads),
                "losses": losses,
            }
            for label, speed in best.items():
                row[f"vs_{label}"] = row["tokens_per_s"] / speed
                ratios = [a / b for a, b in zip(samples[threads, "heed"], samples[threads, label])]
                row[f"vs_{label}_median"] = statistics.median(ratios)
            rows.append(row)
        if len(options.threads) > 1:
            few, many = options.threads[0], options.threads[-1]
            pairs = zip(samples[many, "heed"], samples[few, "heed"])
            rows.append({
                "case": f"scaling {name}", "threads": many, "tokens_per_s": None, "peers": {},
                "times": rows[-1]["tokens_per_s"] / rows[0]["tokens_per_s"],
                "times_median": statistics.median(a / b for a, b in pairs),
            })
        for threads in options.threads:
            rows.append(profile_row(name, threads, ask(heed, op="profile", threads=threads, updates=2 * updates,
                                                      training=training(threads))))
        return rows


def add_share_of_equal(rows):
    """Batches are not padded: a word should cost the same in documents of one length and of very different ones."""
    equal = {row["threads"]: row["tokens_per_s"] for row in rows if row["case"] == "han_equal"}
    for row in rows:
        if row["case"] == "han_unequal" and row["threads"] in equal:
            row["of_equal"] = row["tokens_per_s"] / equal[row["threads"]]


def profile_row(name, threads, reply):
    shares = {part: seconds / reply["seconds"] for part, seconds in reply["parts"].items()}
    named = ("attention", "matrix products", "output layer")
    return {
        "case": f"profile {name}", "threads": threads, "tokens_per_s": reply["tokens"] / reply["seconds"], "peers": {},
        "shares": shares, "rest": 1 - sum(shares[part] for part in named),
    }


def memory_row(options, threads):
    command = [options.program, "--memory", MEMORY_CASE, options.data, str(threads)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return {
        "case": f"memory {MEMORY_CASE}", "threads": threads, "tokens_per_s": None, "peers": {},
        "peak_mb": json.loads(done.stdout)["peak_mb"],
    }


def table(rows):
    lines = ["| case | threads | target tokens/s | against PyTorch | what it must reach |", "|---|---|---|---|---|"]
    for row in rows:
        if row["case"].startswith("profile"):
            continue
        against = [f"{row[f'vs_{n}']:.2f}x ({speed:,.0f}; {n})" for n, speed in row["peers"].items()]
        speed = f"{row['tokens_per_s']:,.0f}" if row["tokens_per_s"] else ""
        value = f"{row['times']:.2f}x" if "times" in row else f"{row['peak_mb']:.0f} MB" if "peak_mb" in row else speed
        goal = ", ".join(row["must"].values())
        lines.append(f"| {row['case']} | {row['threads']} | {value} | {', '.join(against)} | {goal} {report.verdict(row)} |")
    return "\n".join(lines) + "\n\n" + profile_table(rows)


def document_table(rows):
    """For docs/performance.md: a line for each case and number of threads."""
    at = {(row["case"], row["threads"]): row for row in rows}
    lines = []
    for row in rows:
        if " " in row["case"]:
            continue
        case, threads = row["case"], row["threads"]
        scaling, memory = at.get((f"scaling {case}", threads), {}), at.get((f"memory {case}", threads), {})
        torch = [f"{row['peers']['torch']:,.0f}", f"{row['vs_torch']:.2f}x"] if "torch" in row["peers"] else ["", ""]
        lines.append([case, str(threads), f"{row['tokens_per_s']:,.0f}", *torch,
                      f"{scaling['times']:.2f}x" if scaling else "", f"{memory['peak_mb']:.0f} MB" if memory else ""])
    head = ["case", "threads", "target tokens/s", "PyTorch", "ratio", "2 threads against 1", "peak memory"]
    return report.markdown(head, lines) + "\n\n" + profile_table(rows)


def profile_table(rows):
    profiles = [row for row in rows if row["case"].startswith("profile")]
    parts = list(profiles[0]["shares"])
    lines = []
    for row in profiles:
        shares = [f"{100 * row['shares'][part]:.1f} %" if row["shares"][part] else "" for part in parts]
        lines.append([row["case"].split()[1], str(row["threads"])] + shares)
    return report.markdown(["where the time goes", "threads", *parts], lines)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="folder of the build (default: build)")
    parser.add_argument("--program", help="the heed-bench-train to run (default: the one in the build folder)")
    parser.add_argument("--json", help="where the rows go (default: bench-train.json in the build folder)")
    parser.add_argument("--data", default="", help="folder with Multi30k's train.en and train.de, cut into words or "
                        "pieces by spaces; without it sentences of the same lengths are made up")
    parser.add_argument("--case", help="only these cases, separated by commas")
    parser.add_argument("--threads", help="numbers of threads (default: 1,2)")
    parser.add_argument("--rounds", type=int, default=5, help="quiet rounds of interleaved samples (default: 5)")
    parser.add_argument("--no-peers", action="store_true", help="heed alone")
    parser.add_argument("--write", help="the document whose table of trainings is replaced (docs/performance.md)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a case misses what it must reach")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    options.threads = [int(n) for n in options.threads.split(",")] if options.threads else [1, 2][:cores]
    options.program = options.program or str(pathlib.Path(options.build) / "bench" / "heed-bench-train")
    options.json = options.json or str(pathlib.Path(options.build) / "bench-train.json")
    if not os.path.exists(options.program):
        parser.error(f"{options.program} is not there: build it first")
    return options


def main():
    options = parse()
    began = time.monotonic()
    heed = Contestant([options.program])
    hello = ask(heed, op="hello")
    cases = options.case.split(",") if options.case else hello["cases"]
    here = machine()
    say(f"heed: instruction set {hello['isa']} on {here['cpu']}; load before the start {os.getloadavg()[0]:.2f}")
    say(f"data: {options.data or 'made-up sentences with the lengths of Multi30k (--data takes real ones)'}")
    peers = {} if options.no_peers else start_peer(HERE / "peers" / "torch_seq2seq.py", "torch")
    rows = []
    for name in cases:
        say(f"[{time.monotonic() - began:4.0f} s] {name}")
        rows += run_case(heed, peers, name, options)
    heed.close()
    for peer in peers.values():
        peer.close()
    if MEMORY_CASE in cases:
        rows += [memory_row(options, threads) for threads in options.threads]
    add_share_of_equal(rows)
    for row in rows:
        row.update(isa=hello["isa"], **here, versions=versions(peers))
        row["data"] = "files" if options.data else "made up"
        report.judge_beside_peers(row, GOALS[row["case"].split()[0]])
    say(f"[{time.monotonic() - began:4.0f} s] done")
    report.publish(options, "bench-train", rows, report.conditions(here, hello["isa"], versions(peers)),
                   (table(rows), document_table(rows)))


if __name__ == "__main__":
    main()
