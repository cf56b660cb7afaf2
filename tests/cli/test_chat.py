# slow: 10 s
"""heed chat, through a pipe and on a terminal."""
import os
import pty
import select
import signal
import subprocess
import time

import pytest
from heed_program import PROGRAM, answers, heed, run, train_small

DIALOGUES = "".join(f"anna\thello number {i}\nben\thow are you {i}\nanna\tgood {i}\n\n" for i in range(60))


@pytest.fixture(name="small", scope="module")
def small_model(tmp_path_factory):
    return train_small(tmp_path_factory.mktemp("chat") / "model")


@pytest.fixture(name="dialogue", scope="module")
def dialogue_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dialogue")
    (folder / "turns.txt").write_text(DIALOGUES)
    settings = [f"data.tsv={folder / 'turns.txt'}", "data.turns=3", "data.source_tokens=words", "data.joint=true",
                "model.width=24", "model.dropout=0", "attention.score=additive", "train.batch_tokens=128", "stop.steps=150",
                "train.learning_rate=0.01", "validate.every=50", "validate.metric=loss"]
    (folder / "recipe.toml").write_text("")
    done = heed("train", str(folder / "recipe.toml"), "--output", str(folder / "model"), "--threads", "1",
                *[word for setting in settings for word in ("--set", setting)])
    assert done.returncode == 0, done.stderr
    return folder / "model"


def test_lines_are_answered(small):
    assert answers("chat", small, given="abc\n\nbc\n") == answers("predict", small, given="abc\nbc\n")


def test_a_dialogue_remembers_its_turns(dialogue):
    said = answers("chat", dialogue, given="hello number 3\n/history\n/reset\nhello number 3\n")
    assert said[0].startswith("how are"), said
    assert said[1] == "> hello number 3" and said[2] == "< " + said[0]
    assert said[-1] == said[0]
    read = answers("predict", dialogue, given="<you> hello number 3\n")
    assert read[0] == said[0]


def test_commands(small):
    said = run("chat", small, given=b"/look\n/nothing\n/quit\nab\n").stdout.decode()
    assert "nothing was answered yet" in said and "/reset" in said and len(said.splitlines()) <= 4
    drawn = run("chat", small, given=b"abc\n/look\n").stdout.decode()
    assert len(drawn.splitlines()) > 3


def test_labels_cannot_chat(tmp_path):
    (tmp_path / "data.tsv").write_text("".join(f"good {i}\tyes\nbad {i}\tno\n" for i in range(40)))
    model = tmp_path / "model"
    assert heed("train", str(tmp_path / "data.tsv"), "--set", "model.task=classification", "--set", "stop.steps=2",
                "--threads", "1", "--output", str(model)).returncode == 0
    done = heed("chat", str(model))
    assert done.returncode != 0 and "writes a text for a text" in done.stderr


def until(master, part, seconds=30):
    """What the terminal shows, up to `part`."""
    said, end = "", time.monotonic() + seconds
    while part not in said and time.monotonic() < end:
        if select.select([master], [], [], 0.2)[0]:
            try:
                said += os.read(master, 65536).decode(errors="replace")
            except OSError:
                break
    assert part in said, said
    return said


def test_on_a_terminal(small):
    pid, master = pty.fork()
    if pid == 0:
        os.environ["NO_COLOR"] = "1"
        os.execv(PROGRAM, [PROGRAM, "chat", str(small)])
    until(master, "> ")
    os.write(master, b"abc\n")
    until(master, "< ")
    os.write(master, b"half a line")
    time.sleep(0.3)
    os.write(master, b"\x03")  # Ctrl-C
    until(master, "ends the chat")
    os.write(master, b"bc\n")
    until(master, "< ")
    os.write(master, b"\x04")  # Ctrl-D
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            break
        if select.select([master], [], [], 0.1)[0]:
            try:
                os.read(master, 65536)
            except OSError:
                pass
    else:
        os.kill(pid, signal.SIGKILL)
        pytest.fail("it did not end")


def test_a_signal_at_the_prompt_ends_nothing(small):
    with subprocess.Popen([PROGRAM, "chat", str(small)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b"ab\n")
        process.stdin.flush()
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.stdin.write(b"ab\n")
        process.stdin.flush()
        lines = [process.stdout.readline() for _ in range(3)]
        assert first in lines, lines
        process.stdin.close()
        assert process.wait(20) == 0
