#!/usr/bin/env python3
"""Claims about attention that a small experiment can test: docs/experiments.md says what they show.

    experiments/run.py                       lists them
    experiments/run.py scale_of_dot          runs one: prints its table, and writes its picture
    experiments/run.py all --data FOLDER     runs all; those on real data read FOLDER (as docs/experiments.md names them)

A training that is there already is not done again, so an interrupted experiment goes on where it was.
"""

import argparse
import importlib
import pathlib
import sys
import time

sys.dont_write_bytecode = True  # an experiment leaves nothing behind in the source tree
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))
sys.path.append(str(ROOT / "build" / "python"))  # after PYTHONPATH

from lab import Lab  # noqa: E402

NAMES = ("scale_of_dot", "cost_of_local", "wrong_place", "hard_or_soft", "exposure_bias", "long_outputs", "synthesizer",
         "pretraining")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(NAMES)}, or all")
    parser.add_argument("--heed", default=ROOT / "build" / "cli" / "heed", help="the program (default: build/cli/heed)")
    parser.add_argument("--output", default=ROOT / "build" / "experiments", help="trainings, kept (default: build/experiments)")
    parser.add_argument("--pictures", default=ROOT / "build" / "experiments", help="folder of the pictures")
    parser.add_argument("--data", help="folder of real data sets")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="tiny sizes: whether everything runs, not what it shows")
    options = parser.parse_args()
    for name in options.names:
        if name not in (*NAMES, "all"):
            parser.error(f"there is no experiment '{name}'; there are: {', '.join(NAMES)}")
    names = NAMES if "all" in options.names else options.names
    if not names:
        for name in NAMES:
            print(f"{name:14}{importlib.import_module(name).__doc__.splitlines()[0]}")
    pathlib.Path(options.pictures).mkdir(parents=True, exist_ok=True)
    for name in names:
        experiment = importlib.import_module(name)
        lab = Lab(options.heed, pathlib.Path(options.output) / name, options.data, options.threads, options.seeds,
                  options.quick)
        if getattr(experiment, "NEEDS_DATA", False) and lab.data is None:
            print(f"{name}: needs --data FOLDER, with {experiment.NEEDS_DATA}", file=sys.stderr)
            continue
        begin = time.time()
        table, picture = experiment.run(lab)
        print(f"## {experiment.__doc__.splitlines()[0]}\n\n{table}\n\n({name}: {time.time() - begin:.0f} s)\n", flush=True)
        if picture:
            (pathlib.Path(options.pictures) / f"{name}.svg").write_text(picture)


if __name__ == "__main__":
    main()
