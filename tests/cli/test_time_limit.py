"""A limit of time: a few updates are timed, and the length of the training follows from them."""
import random
import signal
import subprocess
import time

from heed_program import PROGRAM, heed


def lines(count):
    rng = random.Random(5)
    return "".join("".join(rng.choices("abcd ", k=60)) + "\n" for _ in range(count))


def settings(*keys):
    return [word for key in keys for word in ("--set", key)]


def test_a_limit_of_time_decides_the_length(tmp_path):
    (tmp_path / "text.txt").write_text(lines(3000))
    keys = settings("model.kind=transformer", "model.width=16", "model.layers=1", "model.context=32",
                    "train.batch_tokens=256", "output.log_every=1")
    folder, minutes = tmp_path / "model", ["--set", "stop.minutes=0.05"]
    with subprocess.Popen([PROGRAM, "train", tmp_path / "text.txt", "--output", folder, "--threads", "1", *keys, *minutes],
                          stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        for _ in range(3000):
            if (folder / "log.jsonl").exists() and '"step"' in (folder / "log.jsonl").read_text():
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.wait(60)
    recipe = dict(line.split(" = ") for line in (folder / "recipe.toml").read_text().splitlines()
                  if " = " in line and not line.startswith("#"))
    steps, warmup = int(recipe["steps"]), int(recipe["warmup"])
    assert steps > 1 and warmup == min(max(steps // 20, 1), 1000) and recipe["schedule"] == '"cosine"'
    # What was chosen stays: a resumed training is the same as one that was never stopped.
    done = heed("train", str(tmp_path / "text.txt"), "--output", str(folder), "--threads", "1", "--resume", *keys,
                "--set", "stop.minutes=10")
    assert done.returncode == 0, done.stderr
    done = heed("train", str(folder / "recipe.toml"), "--output", str(tmp_path / "whole"), "--threads", "1",
                "--set", "stop.minutes=10")
    assert done.returncode == 0, done.stderr
    last = f"step-{steps:06}/weights.safetensors"
    assert (folder / last).read_bytes() == (tmp_path / "whole" / last).read_bytes()


def test_a_warm_up_longer_than_the_time_is_told(tmp_path):
    (tmp_path / "text.txt").write_text(lines(300))
    done = heed("train", str(tmp_path / "text.txt"), "--output", str(tmp_path / "late"), "--threads", "1",
                *settings("model.kind=transformer", "model.width=16", "model.layers=1", "model.context=32",
                          "stop.minutes=0.01", "stop.steps=10000000", "train.warmup=1000000"))
    assert done.returncode == 0, done.stderr
    assert "before its warm-up of 1000000" in done.stderr and "stop.minutes = 0.01" in done.stderr
