# slow: 10 s
"""Recordings in Python: arrays as lines, models that read them."""
import base64
import io
import struct

import numpy as np
import pytest

import heed


def parts(line):
    """(rate, samples) of a line."""
    kind, content = line.split(",")
    assert kind == "data:audio/wav;base64"
    data = base64.b64decode(content)
    assert data[:4] == b"RIFF" and struct.unpack("<I", data[4:8])[0] == len(data) - 8
    tag, channels, rate, _, width, bits = struct.unpack("<HHIIHH", data[20:36])
    assert (tag, channels, width, bits) == (3, 1, 4, 32)
    return rate, np.frombuffer(data[44:], "<f4")


def tone(frequency, seconds=0.3, rate=8000):
    return 0.3 * np.sin(2 * np.pi * frequency * np.arange(int(seconds * rate)) / rate)


def test_arrays_become_lines():
    samples = np.array([0.5, -1.0, 0.25])
    for kind in (np.float32, np.float64):
        rate, found = parts(heed.recording(samples.astype(kind), 44100))
        assert rate == 44100 and found.tolist() == [0.5, -1.0, 0.25]
    assert parts(heed.recording(np.array([16384, -32768], np.int16), 8000))[1].tolist() == [0.5, -1.0]
    assert parts(heed.recording(np.array([[0.5, 0.0], [1.0, 1.0]]), 8000))[1].tolist() == [0.25, 1.0]
    assert parts(heed.recording([0.5, 0.25], np.int64(8000)))[1].tolist() == [0.5, 0.25]


@pytest.mark.parametrize("samples, rate, kind, says", [
    (np.zeros(0), 8000, heed.Error, "the shape [0]"),
    (np.zeros((2, 0)), 8000, heed.Error, "the shape [2, 0]"),
    (np.zeros((2, 2, 2)), 8000, heed.Error, "the shape"),
    (np.array([np.nan]), 8000, heed.Error, "NaN"),
    (np.zeros(3), 10, heed.Error, "got 10"),
    (np.zeros(3), 8000.0, TypeError, "float"),
    (np.zeros(3, np.int64), 8000, TypeError, "int64"),
    ("call.wav", 8000, TypeError, "expected floating-point"),
])
def test_what_is_no_recording(samples, rate, kind, says):
    with pytest.raises(kind) as found:
        heed.recording(samples, rate)
    assert says in str(found.value)


def test_a_model_reads_files_and_arrays(tmp_path):
    words = {"low": 300, "high": 2500}
    pairs = [(heed.recording(tone(words[word], 0.2 + i / 200), 8000), word) for i in range(20) for word in words]
    said = io.StringIO()
    model = heed.train(pairs, progress=said, settings={
        "model.width": 16, "model.channels": 4, "stop.epochs": 25, "train.batch_tokens": 64, "train.learning_rate": 0.01})
    assert "column 1 names recordings" in said.getvalue()
    line = heed.recording(tone(2400, 0.33, 16000), 16000)
    found = model.predict(line, alignments=True)
    assert found.text == "high" and found.error is None
    ((word, start, end),) = found.nbest[0].times
    assert word == "high" and 0 <= start < end <= 0.36
    assert found.source_tokens[:2] == ["0.00", "0.04"] and found.alignment.shape == (1, len(found.source_tokens))
    assert "<svg" in found.svg()
    path = tmp_path / "x.wav"
    path.write_bytes(base64.b64decode(line.split(",")[1]))
    assert model.predict(str(path)).nbest[0].score == found.nbest[0].score
    assert model.predict(line, alignments=False).nbest[0].times == []
    assert "neither WAV nor FLAC" in model.predict("data:audio/wav;base64,AAAA").error
