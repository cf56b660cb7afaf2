#!/usr/bin/env python3
"""Writes texts with a Transformer of running text, with heed and with PyTorch, in turns: tokens/s of one text.

The models are not trained: a wrong token takes as long as a right one. What both write must be the same.
Prints a table and writes build/bench-generate.json.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # a benchmark leaves nothing behind in the source tree
from contestant import Contestant, OtherLoad, ask, machine, say, start_peer  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TOKENS = 256
MUST = 5.0  # times PyTorch
AGREE = 0.95  # share of the tokens before a near tie may part the two
CASES = {  # name -> width, layers, heads
    "128 wide, 4 layers": (128, 4, 4),
    "192 wide, 4 layers": (192, 4, 4),
    "512 wide, 6 layers": (512, 6, 8),
}


def make_model(heed, folder, width, layers, heads):
    text = folder / "text.txt"
    text.write_text("".join(f"{i} the quick brown fox jumps over the lazy dog\n" for i in range(400)))
    keys = [f"model.width={width}", f"model.layers={layers}", f"attention.heads={heads}", "model.kind=transformer",
            "model.positions=sinusoidal", "model.norm=pre", "stop.steps=1", "data.text_tokens=characters"]
    done = subprocess.run([heed, "train", str(text), "--output", str(folder / "model"),
                           *[word for key in keys for word in ("--set", key)]], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"no model was made: {done.stderr}")
    return str(folder / "model")


def same(ours, theirs):
    """The share of the tokens up to the first that differs."""
    equal = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), len(ours))
    return equal / len(ours)


def run_case(heed, peer, options, name):
    with tempfile.TemporaryDirectory(prefix="heed-bench-generate-") as temporary:
        folder = pathlib.Path(temporary)
        model = make_model(str(pathlib.Path(options.build) / "cli" / "heed"), folder, *CASES[name])
        parameters = ask(heed, op="open", model=model, folder=temporary)["parameters"]
        contestants = {"heed": heed}
        if peer:
            ask(peer, op="open", folder=temporary)
            contestants["torch"] = peer
        rows = []
        for threads in options.threads:
            best, said = {}, {}
            load = OtherLoad(list(contestants.values()))
            for _ in range(options.rounds + 1):  # the first takes memory
                for label, contestant in contestants.items():
                    reply = ask(contestant, op="run", threads=threads, tokens=TOKENS)
                    best[label] = max(best.get(label, 0), len(reply["tokens"]) / reply["seconds"])
                    said[label] = reply["tokens"]
            row = {"case": name, "threads": threads, "parameters": parameters, "tokens_per_s": best["heed"],
                   "other_load": load.since_last()}
            if peer:
                row["agree"] = same(said["heed"], said["torch"])
                if row["agree"] >= AGREE:
                    row["torch"] = best["torch"]
                    row["vs_torch"] = best["heed"] / best["torch"]
                else:
                    say(f"{name}: PyTorch writes another text after {row['agree']:.0%} of it")
            rows.append(row)
        return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="folder of the build (default: build)")
    parser.add_argument("--threads", default="1,2", help="numbers of threads (default: 1,2)")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved samples (default: 5)")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    options.threads = [n for n in map(int, options.threads.split(",")) if n <= cores]
    heed = Contestant([str(pathlib.Path(options.build) / "bench" / "heed-bench-generate")])
    hello = ask(heed, op="hello")
    say(f"heed: instruction set {hello['isa']} on {machine()['cpu']}; load before the start {os.getloadavg()[0]:.2f}")
    peer = start_peer(HERE / "peers" / "torch_generate.py", "torch").get("torch")
    rows = [row for name in CASES for row in run_case(heed, peer, options, name)]
    (pathlib.Path(options.build) / "bench-generate.json").write_text(
        json.dumps({"machine": machine(), "rows": rows}, indent=1))
    print("| model | parameters | threads | heed, tokens/s | PyTorch | ratio |\n|---|---:|---:|---:|---:|---:|")
    for row in rows:
        torch = f"{row['torch']:,.0f} | {row['vs_torch']:.2f}x" if "torch" in row else " | "
        print(f"| {row['case']} | {row['parameters']:,} | {row['threads']} | {row['tokens_per_s']:,.0f} | {torch} |")
    missed = [row for row in rows if row.get("vs_torch", MUST) < MUST]
    print(f"\n{len(missed)} of {len(rows)} below {MUST}x")


if __name__ == "__main__":
    main()
