"""What the experiments share: trainings that are kept, so that an interrupted experiment goes on where it was."""

import hashlib
import json
import pathlib
import statistics
import subprocess


class Lab:
    """Runs the program `heed` in a folder. Every training has a folder of its own, named by what it depends on."""

    def __init__(self, heed, folder, data=None, threads=1, seeds=2, quick=False):
        self._heed = str(pathlib.Path(heed).resolve())
        self._folder = pathlib.Path(folder).resolve()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._threads = threads
        self.data = pathlib.Path(data).resolve() if data else None  # real data sets; None: there are none
        self.seeds = seeds
        self._quick = quick  # sizes that only show that an experiment runs

    def size(self, count):
        """How many examples to make or read."""
        return min(count, 40) if self._quick else count

    def file(self, path):
        """A file of real data; only its beginning where sizes are tiny."""
        if not self._quick:
            return path
        lines = path.read_text().splitlines()[: self.size(1000)]
        return self.write(path.name, "\n".join(lines) + "\n")

    def some(self, choices):
        """What an experiment goes through."""
        return choices[:2] if self._quick else choices

    def heed(self, *arguments):
        """Standard output of the program, which must succeed."""
        command = [self._heed, *map(str, arguments), "--threads", str(self._threads)]
        done = subprocess.run(command, cwd=self._folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
        return done.stdout

    def write(self, name, text):
        """A file of data, by its content; returns its name."""
        stem, dot, ending = name.partition(".")
        path = self._folder / f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:10]}{dot}{ending}"
        if not path.exists():
            path.write_text(text)
        return path

    def recipe(self, task):
        """A recipe of a built-in task, and nothing else."""
        return self.write(f"{task}.toml", f'[data]\ntask = "{task}"\n')

    def train(self, *data, settings, extra=()):
        """A model; the one that was trained before, if everything is as it was then."""
        if self._quick:
            settings = {**settings, "stop.steps": 2, "validate.every": 2}
            settings.pop("stop.epochs", None)
            settings.update({key: 16 for key in ("model.width", "model.hidden") if key in settings})
        words = [str(d) for d in data] + [f"{key}={value}" for key, value in sorted(settings.items())] + list(map(str, extra))
        folder = self._folder / ("model-" + hashlib.sha256("\n".join(words).encode()).hexdigest()[:12])
        if not (folder / "finished").exists():
            sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
            resumes = ["--resume"] if (folder / "recipe.toml").exists() else []
            if resumes:
                self.heed("train", "--resume", "--output", folder)
            else:
                self.heed("train", *data, *sets, *extra, "--output", folder)
            (folder / "finished").touch()
        return folder

    def evaluate(self, model, *files, metric):
        """A number of the field, in the unit that heed prints."""
        answer = json.loads(self.heed("evaluate", model, *files, "--metric", metric, "--json",
                                      *(["--max-length", 20] if self._quick and metric != "accuracy" else [])))
        return next(found["score"] for found in answer["metrics"] if found["metric"] == metric)

    @staticmethod
    def validated(model, number="nll"):
        """A number of each validation, in order: [(update, value)]."""
        events = [json.loads(line) for line in (model / "log.jsonl").read_text().splitlines()]
        return [(event["step"], event[number]) for event in events if event["event"] == "validated"]

    def best_loss(self, model):
        return min(value for _, value in self.validated(model))

    def means(self, run):
        """run(seed) -> number, for every seed: (mean, standard deviation)."""
        values = [run(seed) for seed in range(1, self.seeds + 1)]
        return statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def table(header, rows):
    """Markdown."""
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join("---:" for _ in header) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])
