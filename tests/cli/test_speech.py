# slow: 20 s
"""Recordings: trained on, answered, judged, looked at."""
import base64
import json
import math
import random
import struct
import wave

import pytest
from heed_program import CONFIG, DATA, USAGE, answers, from_json, heed, run, text
from heed_server import Server

TONES = {"low": 300, "middle": 900, "high": 2500}
RATE = 8000


def samples(words, seed, rate=RATE):
    """A tone of a quarter of a second for each word, with pauses and noise between."""
    noise, all_samples, times = random.Random(seed), [], []
    for word in words:
        for seconds, frequency in ((0.1, 0), (0.25, TONES[word])):
            if frequency:
                times.append(len(all_samples) / rate)
            all_samples += [int(9000 * math.sin(2 * math.pi * frequency * i / rate) + noise.gauss(0, 60))
                            for i in range(int(seconds * rate))]
    return all_samples + [0] * (rate // 10), times


def pcm(numbers):
    return struct.pack(f"<{len(numbers)}h", *numbers)


def write_wav(path, numbers, rate=RATE, channels=1):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(pcm([n for n in numbers for _ in range(channels)]))
    return path


def train(data, folder, *settings):
    keys = ["model.width=16", "model.channels=4", "model.dropout=0", "model.time_masks=0", "model.band_masks=0",
            "train.learning_rate=0.01", "train.batch_tokens=192", "validate.every=100000", *settings]
    done = run("train", data, "--output", folder, "--threads", "1", *[word for key in keys for word in ("--set", key)])
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    return done


@pytest.fixture(name="heard", scope="module")
def heard_tones(tmp_path_factory):
    """Strings of tones with their names, and a model that writes them."""
    folder = tmp_path_factory.mktemp("heard")
    chance, lines = random.Random(4), []
    for i in range(160):
        words = [chance.choice(list(TONES)) for _ in range(chance.randint(1, 3))]
        write_wav(folder / f"{i}.wav", samples(words, i)[0])
        lines.append(f"{i}.wav\t{' '.join(words)}\n")
    (folder / "train.tsv").write_text("".join(lines[:120]))
    (folder / "test.tsv").write_text("".join(lines[120:]))
    done = train(folder / "train.tsv", folder / "model", "stop.epochs=30")
    assert done.returncode == 0, done.stderr
    return folder, str(folder / "model"), done.stderr + done.stdout


def test_a_table_of_recordings_is_learned(heard):
    folder, model, said = heard
    for shown in ("column 1 names recordings", 'model.task = "speech"', "model.sample_rate = 8000",
                  "data.target_tokens = words", "validate.metric = wer"):
        assert shown in said, said
    found = from_json("evaluate", model, str(folder / "test.tsv"), "--json")
    assert found["metrics"][0]["name"] == "WER" and found["metrics"][0]["score"] < 5
    assert "speech" in text("info", model)
    scores = heed("score", model, str(folder / "test.tsv")).stdout.splitlines()
    assert len(scores) == 40 and all(float(score) < 0 for score in scores)


def test_recordings_are_given_as_files_lines_and_raw_samples(heard, tmp_path):
    _, model, _ = heard
    words, numbers = "low high low", samples(["low", "high", "low"], 1000)[0]
    path = write_wav(tmp_path / "call.wav", numbers)
    assert answers("predict", model, str(path), given="") == [words]
    assert answers("predict", model, given=f"{path}\n\n") == [words, ""]
    done = run("predict", model, "--pcm", "8000", given=pcm(numbers))
    assert (done.stdout, done.stderr) == (f"{words}\n".encode(), b"")
    inside = "data:audio/wav;base64," + base64.b64encode(path.read_bytes()).decode()
    assert answers("predict", model, "--scores", given=f"{inside}\n") == answers("predict", model, "--scores",
                                                                                given=f"{path}\n")
    twice = write_wav(tmp_path / "stereo.wav", samples(["low", "high", "low"], 1000, 16000)[0], 16000, 2)
    assert answers("predict", model, str(twice), str(path), given="") == [words, words]
    raw = json.loads(run("predict", model, "--pcm", "8000", "--json", given=pcm(numbers)).stdout)
    assert raw["source"].startswith("data:audio/wav;base64, ") and len(raw["source"]) < 80


def test_times_of_words(heard, tmp_path):
    _, model, _ = heard
    words = ["high", "low", "middle"]
    numbers, starts = samples(words, 2000)
    path = write_wav(tmp_path / "call.wav", numbers)
    line = answers("predict", model, "--times", str(path), given="")[0]
    said, times = line.split("\t")
    assert said == " ".join(words)
    found = [tuple(map(float, each.split("-"))) for each in times.split(" ")]
    assert len(found) == 3
    for (start, end), real in zip(found, starts):
        assert start < end and start < real + 0.25 and end > real, (found, starts)  # the tone and the time overlap
    answer = json.loads(run("predict", model, "--json", "--times", str(path)).stdout)
    assert [(t["word"], t["start"], t["end"]) for t in answer["times"]] == [
        (word, start, end) for word, (start, end) in zip(words, found)]
    assert answer["source_tokens"][:3] == ["0.00", "0.04", "0.08"]


def test_what_it_attended_to(heard, tmp_path):
    _, model, _ = heard
    path = write_wav(tmp_path / "call.wav", samples(["high", "low"], 3000)[0])
    line = f"{path}\n".encode()
    looked = json.loads(run("look", model, "--json", "-", given=line).stdout)["examples"][0]
    rows = looked["maps"][0]
    assert rows["group"] == "attention to the recording" and rows["rows"] == 3
    assert looked["sequences"]["source"]["tokens"][-1] == f"{(rows['cols'] - 1) * 0.04:.2f}"
    done = run("predict", model, "--pictures", tmp_path / "seen", str(path))
    assert done.returncode == 0 and done.stdout == b"high low\n", done.stderr
    drawing = (tmp_path / "seen" / "1.svg").read_text()
    assert "data:image/png;base64," in drawing and ">high</text>" in drawing and " s</text>" in drawing
    assert run("predict", model, "--alignments=picture", str(path)).returncode == 0


def test_a_training_goes_on_where_it_stopped(heard, tmp_path):
    folder, _, _ = heard
    settings = ["validate.every=20", "model.dropout=0.1", "model.time_masks=1", "train.schedule=inverse_sqrt",
                "train.warmup=5"]
    whole = train(folder / "train.tsv", tmp_path / "whole", "stop.steps=40", *settings)
    half = train(folder / "train.tsv", tmp_path / "half", "stop.steps=20", *settings)
    assert whole.returncode == 0 and half.returncode == 0, half.stderr
    done = heed("train", "--resume", "--output", str(tmp_path / "half"), "--threads", "1", "--set", "stop.steps=40")
    assert done.returncode == 0, done.stderr
    asked = f"{folder}/121.wav\n{folder}/122.wav\n"
    assert answers("predict", tmp_path / "half", "--checkpoint", "last", "--scores", given=asked) == answers(
        "predict", tmp_path / "whole", "--checkpoint", "last", "--scores", given=asked)


def test_a_folder_of_labelled_files(tmp_path):
    folder = tmp_path / "tones"
    folder.mkdir()
    for i in range(60):
        word = list(TONES)[i % 3]
        write_wav(folder / f"{word}_{i}.wav", samples([word], i)[0])
    done = train(folder, tmp_path / "model", "stop.epochs=20", "train.batch_tokens=64")
    assert done.returncode == 0, done.stderr
    assert "a folder of 60 recordings" in done.stderr and "validate.metric = accuracy" in done.stdout
    path = write_wav(tmp_path / "other.wav", samples(["middle"], 99)[0])
    assert answers("predict", tmp_path / "model", str(path), given="") == ["middle"]
    found = from_json("evaluate", str(tmp_path / "model"), str(folder), "--json", "--metric", "accuracy")
    assert found["metrics"][0]["score"] > 95


def test_one_file_holds_the_model(heard, tmp_path):
    folder, model, _ = heard
    assert heed("export", model, "--output", str(tmp_path / "m.heed")).returncode == 0
    asked = f"{folder}/121.wav\n"
    assert answers("predict", tmp_path / "m.heed", given=asked) == answers("predict", model, given=asked)


def test_a_server_takes_recordings_inside_the_request(heard, tmp_path):
    folder, model, _ = heard
    path = write_wav(tmp_path / "call.wav", samples(["high", "low"], 3000)[0])
    inside = "data:audio/wav;base64," + base64.b64encode(path.read_bytes()).decode()
    with Server(model, "--max-text", "100") as server:
        answer = server.post("/v1/predict", {"input": inside, "alignments": "links"})
        assert answer.status == 200 and answer.json["output"] == "high low"
        assert [each["word"] for each in answer.json["times"]] == ["high", "low"]
        assert server.post("/v1/attention", {"input": inside}).status == 200
        assert server.post("/v1/predict", {"input": inside[:60]}).code == "input"
        for name in (path, "/etc/passwd", f"{folder}/1.wav", f"{tmp_path}/missing.wav"):
            for route, body in (("/v1/predict", {"input": str(name)}), ("/v1/attention", {"input": str(name)}),
                                ("/v1/score", {"source": str(name), "target": "low"})):
                answer = server.post(route, body)
                assert (answer.status, answer.code) == (400, "sound_file"), (route, name, answer.text)


def test_recordings_that_cannot_be_read(heard, tmp_path):
    folder, model, _ = heard
    good = (folder / "1.wav").read_bytes()
    files = {"cut.wav": good[:-11], "text.wav": b"no sound", "empty.wav": b"", "mp3.wav": b"ID3\x03 and so on"}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    names = [*files, "gone.wav"]
    said = run("predict", model, given="".join(f"{tmp_path}/{n}\n" for n in names).encode())
    assert said.returncode == 0 and said.stdout == b"\n\n\n\n\n"
    reasons = ["cut short", "neither WAV nor FLAC", "empty", "ffmpeg", "gone.wav"]
    for line, reason in enumerate(reasons, 1):
        assert f"line {line}: ".encode() in said.stderr and reason.encode() in said.stderr, said.stderr
    long = write_wav(tmp_path / "long.wav", [0] * 31 * RATE)
    assert b"it is 31.0 s long; at most 30 s" in run("predict", model, str(long)).stderr
    assert heed("predict", model, str(tmp_path / "nothing.wav")).returncode != 0


@pytest.mark.parametrize("content, says", [
    ("a.wav\tone\nb.wav\ttwo\n", "no line is left for training"),
    ("a.wav\n" * 3, "no usable pair"),
])
def test_tables_that_cannot_be_used(tmp_path, content, says):
    (tmp_path / "x.tsv").write_text(content)
    done = train(tmp_path / "x.tsv", tmp_path / "out", "model.task=speech")
    assert done.returncode == DATA and says in done.stderr, done.stderr


@pytest.mark.parametrize("setting, says", [
    ("model.sample_rate=1", "must be from 1000"),
    ("data.sound_column=2", "are both 2"),
    ("model.positions=learned", "learned"),
    ("model.sound_norm=loud", "sound_norm"),
])
def test_recipes_with_mistakes(heard, tmp_path, setting, says):
    folder, _, _ = heard
    done = train(folder / "train.tsv", tmp_path / "out", setting, "model.kind=transformer")
    assert done.returncode == CONFIG and says in done.stderr, done.stderr


def test_what_is_for_recordings_alone(tmp_path):
    (tmp_path / "x.tsv").write_text("".join(f"{i}\t{i}\n" for i in range(40)))
    done = heed("train", str(tmp_path / "x.tsv"), "--output", str(tmp_path / "m"), "--set", "stop.steps=2")
    assert done.returncode == 0, done.stderr
    for option in (["--times"], ["--pcm", "8000"]):
        done = heed("predict", str(tmp_path / "m"), *option)
        assert done.returncode == USAGE and "for models that read recordings" in done.stderr
