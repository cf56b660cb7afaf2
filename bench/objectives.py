#!/usr/bin/env python3
"""Ways to train, side by side: the same start, data and number of updates, several seeds.

    bench/objectives.py HEED RECIPE TEST.tsv --work FOLDER [--seeds 3] [--first 1500] [--more 500] [--metric ser,per]

For each seed a model is trained with teacher forcing for --first updates (or --start names one for all seeds). From its weights each way goes on for --more
updates: teacher forcing again, which is what the others are compared with, scheduled sampling, REINFORCE and minimum
risk. Prints the mean and the spread (standard deviation) over the seeds, by a greedy search on TEST, and the difference to teacher
forcing of the same seed. What is done already in --work is kept, so a stopped run goes on.
"""
import argparse
import json
import pathlib
import statistics
import subprocess

WAYS = {
    "likelihood": [],
    "scheduled_sampling": ["train.objective=scheduled_sampling"],
    "reinforce": ["train.objective=reinforce"],
    "minimum_risk": ["train.objective=minimum_risk"],
}
OF_REWARDS = ("reinforce", "minimum_risk")


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def train(heed, recipe, folder, settings, start=None):
    """A training run that is not there yet, or not finished."""
    log = folder / "log.jsonl"
    if log.exists() and '"event":"finished"' in log.read_text():
        return
    command = [heed, "train", recipe, "--output", folder]
    for setting in settings:
        command += ["--set", setting]
    if start:
        command += ["--from", start]
    if folder.exists():
        command.append("--resume")
    run(command)


def measured(heed, model, test, metrics):
    """The values of the metrics on a TSV, in their order."""
    found = json.loads(run([heed, "evaluate", model, test, "--metric", metrics, "--json"]))
    scores = {score["metric"]: score["score"] for score in found["metrics"]}
    return [scores[name] for name in metrics.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("heed")
    parser.add_argument("recipe")
    parser.add_argument("test")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=1500)
    parser.add_argument("--start", type=pathlib.Path, help="a trained model that all seeds start from")
    parser.add_argument("--more", type=int, default=500)
    parser.add_argument("--metric", default="ser,per")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--reward", default="per", help="of the two objectives that have one")
    parser.add_argument("--hypotheses", type=int, default=5, help="of each source, for these two")
    parser.add_argument("--set", action="append", default=[], help="a setting of every run")
    parser.add_argument("--more-set", action="append", default=[], help="a setting of the second part of every run")
    o = parser.parse_args()
    names = o.metric.split(",")
    ways = o.ways.split(",")
    values = {way: [] for way in ways}
    for seed in range(1, o.seeds + 1):
        start = o.start or o.work / f"seed{seed}" / "start"
        shared = [*o.set, f"train.seed={seed}"]
        if not o.start:
            train(o.heed, o.recipe, start, [*shared, f"stop.steps={o.first}"])
        for way in ways:
            folder = o.work / f"seed{seed}" / way
            settings = [*shared, *o.more_set, f"stop.steps={o.more}", *WAYS[way]]
            if way in OF_REWARDS:
                settings += [f"train.reward={o.reward}", f"train.hypotheses={o.hypotheses}"]
            train(o.heed, o.recipe, folder, settings, start)
            values[way].append(measured(o.heed, folder, o.test, o.metric))
            print(f"seed {seed}  {way:20}  " + "  ".join(f"{n} {v:.2f}" for n, v in zip(names, values[way][-1])), flush=True)
    print("\n| objective | " + " | ".join(f"{name} | against likelihood" for name in names) + " |")
    print("|---|" + "---:|---:|" * len(names))
    for way in ways:
        cells = []
        for n in range(len(names)):
            all_of = [found[n] for found in values[way]]
            spread = statistics.stdev(all_of) if len(all_of) > 1 else 0.0
            apart = [mine[n] - plain[n] for mine, plain in zip(values[way], values[ways[0]])]
            cells.append(f"{statistics.mean(all_of):.2f} ± {spread:.2f}")
            cells.append("" if way == ways[0] else ", ".join(f"{each:+.2f}" for each in apart))
        print(f"| {way} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
