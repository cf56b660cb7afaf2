"""A small training, and the program heed with faults: of the disk, of its files, of its surroundings."""
import errno
import hashlib
import json
import os
import pathlib
import resource
import shutil
import subprocess

from heed_program import PROGRAM, small_recipe  # tests/cli

SHIM = os.environ["HEED_DISK_FAULTS"]
EVERY = os.environ.get("HEED_FAULTS") == "all"  # make faults: every fault; else some of each kind
STEPS = 12

RECIPE = small_recipe(data={"examples": 60, "valid_examples": 6}, model={"width": 8},
                      train={"batch_tokens": 128, "warmup": 3, "average": 0.5}, stop={"steps": STEPS},
                      validate={"every": 4, "decode": 2},
                      # keep_last: so that removals are among the calls that fail
                      output={"log_every": 1, "keep_last": 1})

# What an answer to a fault may be (docs/cli.md): never a signal, and never 70, a fault of heed itself.
DATA, NO_INPUT, CANNOT_CREATE, OUTPUT, CONFIG = 65, 66, 73, 74, 78


def some(numbers, count):
    """All of them with HEED_FAULTS=all; else `count`, evenly, the first and the last among them."""
    numbers = list(numbers)
    if EVERY or len(numbers) <= count:
        return numbers
    return [numbers[round(i * (len(numbers) - 1) / (count - 1))] for i in range(count)]


def heed(*arguments, limit=None, timeout=600, given=b"", **environment):
    """The finished process. `limit`: bytes of memory that it may ask for."""
    def limited():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return subprocess.run([PROGRAM, *map(os.fsencode, arguments)], input=given, capture_output=True, timeout=timeout,
                          check=False, env={**os.environ, "COLUMNS": "80", **environment},
                          preexec_fn=limited)  # pylint: disable=subprocess-popen-preexec-fn


def train(recipe, out, *arguments, **environment):
    return heed("train", recipe, "--output", out, "--threads", "1", *arguments, **environment)


def faults(folder, at, error=0, stays=False, count=None):
    """The environment of a program whose disk fails in `folder`, at its call number `at`: as disk_faults.cc says."""
    said = {"LD_PRELOAD": SHIM, "FAULT_FOLDER": str(folder), "FAULT_AT": str(at), "FAULT_ERROR": str(error)}
    if stays:
        said["FAULT_STAYS"] = "1"
    if count:
        said["FAULT_COUNT"] = str(count)
    return said


def digest(folder):
    """What a training came to: its last weights and the state of its optimiser, and which checkpoint is the best."""
    last = pathlib.Path(folder) / f"step-{STEPS:06}"
    parts = [(last / name).read_bytes() for name in ("weights.safetensors", "optimiser.safetensors")]
    return hashlib.sha256(b"".join(parts)).hexdigest(), (pathlib.Path(folder) / "best.txt").read_text()


def losses(folder):
    lines = map(json.loads, (pathlib.Path(folder) / "log.jsonl").read_text().splitlines())
    return [(line["step"], line["loss"]) for line in lines if line["event"] == "step"]


def leftovers(folder):
    return [name for name in os.listdir(folder) if name.startswith(".") and name != ".lock"]


def answered(done, *codes):
    """It ended by itself, with one of these codes, and said why where that is not 0."""
    assert done.returncode in codes, (done.returncode, done.stdout, done.stderr)
    if done.returncode:
        assert b"heed: " in done.stderr and b"what():" not in done.stderr, done.stderr
    return done


def calls_of(recipe, folder):
    """How many calls to the disk an undisturbed training has."""
    answered(train(recipe, folder / "counted", **faults(folder / "counted", 0, count=folder / "count")), 0)
    return int((folder / "count").read_text())


def tampered(checkpoint, part, change):
    """Changes a part of a checkpoint, and the manifest with it: somebody meant it."""
    path = checkpoint / part
    before = path.read_bytes()
    after = change(before)
    assert after != before
    path.write_bytes(after)
    manifest = json.loads((checkpoint / "MANIFEST.json").read_text())
    for each in manifest["parts"]:
        if each["name"] == part:
            each["size"], each["sha256"] = len(after), hashlib.sha256(after).hexdigest()
    (checkpoint / "MANIFEST.json").write_text(json.dumps(manifest))


def copied(folder, to):
    shutil.copytree(folder, to)
    return to


FULL, FAILING = errno.ENOSPC, errno.EIO
