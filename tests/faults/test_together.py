# slow: 10 s
"""Several programs and one folder; signals."""
import os
import signal
import subprocess
import threading
import time

import pytest
from faulty import CANNOT_CREATE, EVERY, answered, digest, heed, train
from heed_program import PROGRAM

LONG = ("--set", "stop.steps=100000", "--set", "output.checkpoint_minutes=0")


def begin(recipe, out, *arguments, **more):
    """A training that is under way."""
    # pylint: disable=consider-using-with
    process = subprocess.Popen([PROGRAM, "train", recipe, "--output", out, "--threads", "1", *LONG, *arguments],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    limit = time.monotonic() + 600
    while time.monotonic() < limit and process.poll() is None:
        if (out / "log.jsonl").exists() and '"event":"saved"' in (out / "log.jsonl").read_text():
            return process
        time.sleep(0.01)
    process.kill()
    raise AssertionError(process.communicate())


def test_two_trainings_into_one_folder(recipe, tmp_path):
    out = tmp_path / "out"
    process = begin(recipe, out, "--set", "validate.every=100")
    for arguments in ((), ("--resume",)):
        done = answered(train(recipe, out, *arguments), CANNOT_CREATE)
        assert b"is in use: another training (process %d)" % process.pid in done.stderr
    process.kill()  # its lock goes with it
    process.communicate()
    answered(train(recipe, out, "--resume", "--set", "stop.steps=1"), 0)


def test_two_trainings_at_the_same_moment(recipe, whole, tmp_path):
    for attempt in range(20 if EVERY else 3):
        out = tmp_path / f"out-{attempt}"
        processes = [subprocess.Popen([PROGRAM, "train", recipe, "--output", out, "--threads", "1"],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
        said = [process.communicate(timeout=600)[1] for process in processes]
        codes = sorted(process.returncode for process in processes)
        # Also where the second one begins after the first has ended: then the folder holds a training.
        assert codes == [0, CANNOT_CREATE], said
        assert digest(out) == digest(whole)


def test_predict_during_a_training(recipe, tmp_path):
    """A checkpoint that is removed while it is read is not missed: there is a newer one."""
    out = tmp_path / "out"
    process = begin(recipe, out, "--set", "validate.every=1", "--set", "validate.decode=0")
    failed = []

    def ask(checkpoint):
        for _ in range(100 if EVERY else 12):
            done = heed("predict", out, "--checkpoint", checkpoint, "--threads", "1", given=b"abc\n")
            if done.returncode != 0:
                failed.append(done.stderr)

    threads = [threading.Thread(target=ask, args=[name]) for name in ("best", "last")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=600)
    assert failed == []


# ----------------------------------------------------------------------------------------------------------- signals

@pytest.mark.parametrize("wish", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_saves_and_ends(recipe, tmp_path, wish):
    out = tmp_path / "out"
    process = begin(recipe, out, "--set", "validate.every=100")
    process.send_signal(wish)
    if wish == signal.SIGHUP:  # of the terminal, and of its shell
        process.send_signal(wish)
    said, complained = process.communicate(timeout=600)
    assert process.returncode == 0, complained
    stopped = int(said.split(b"stopped after update ")[1].split()[0])
    assert (out / f"step-{stopped:06}" / "MANIFEST.json").exists()


def test_nohup_is_heeded(recipe, tmp_path):
    process = begin(recipe, tmp_path / "out", "--set", "validate.every=100",
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    for _ in range(3):
        process.send_signal(signal.SIGHUP)
        time.sleep(0.05)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert b"stopped after update" in process.communicate(timeout=600)[0]


def test_the_terminal_is_closed(recipe, tmp_path):
    """The shell sends SIGHUP, and nothing can be written to the terminal any more: saved all the same."""
    out = tmp_path / "out"
    master, slave = os.openpty()
    with subprocess.Popen([PROGRAM, "train", recipe, "--output", out, "--threads", "1", *LONG, "--set",
                           "validate.every=100"], stdin=slave, stdout=slave, stderr=slave,
                          start_new_session=True) as process:
        os.close(slave)
        while not (out / "best.txt").exists() and process.poll() is None:
            os.read(master, 65536)
        os.close(master)
        process.send_signal(signal.SIGHUP)
        code = process.wait(timeout=600)
    assert code >= 0, "killed by a signal"
    last = max(name for name in os.listdir(out) if name.startswith("step-"))
    assert b'"by":"stopped"' in (out / "log.jsonl").read_bytes() and (out / last / "MANIFEST.json").exists()
    answered(heed("predict", out, "--checkpoint", "last", given=b"abc\n"), 0)


@pytest.mark.parametrize("wish", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_at_any_moment(recipe, whole, tmp_path, wish):
    """Whenever it comes, --resume goes on to the same bits."""
    for i in range(40 if EVERY else 3):
        out = tmp_path / f"out-{i}"
        with subprocess.Popen([PROGRAM, "train", recipe, "--output", out, "--threads", "1"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            time.sleep(0.004 * (i % 40) if EVERY else 0.03 * (i + 1))
            process.send_signal(wish)
            process.wait(timeout=600)
        answered(train(recipe, out, "--resume"), 0)
        assert digest(out)[0] == digest(whole)[0]
