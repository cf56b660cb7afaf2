# slow: 5 s
"""The event files of a training hold what its log says, as a strict reader and TensorBoard itself read them."""
import json
import struct

import pytest
from event_reader import scalars
from heed_program import text, train_small

METRICS = ["loss", "bleu", "chrf", "chrf++", "ter", "exact", "accuracy", "ser", "wer", "per", "cer"]


def single(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def files_of(folder):
    return sorted(path for path in folder.iterdir() if path.name.startswith("events.out.tfevents."))


def expected(folder):
    """What the log says, as the event files call it."""
    found = []
    for line in map(json.loads, (folder / "log.jsonl").read_text().splitlines()):
        if line["event"] == "step":
            found += [(line["step"], f"train/{tag}", single(line[name])) for tag, name in (
                ("loss", "loss"), ("nll", "nll"), ("token_accuracy", "accuracy"), ("gradient_norm", "gradient_norm"),
                ("learning_rate", "learning_rate"), ("tokens_per_second", "tokens_per_second"))]
        if line["event"] == "validated":
            found += [(line["step"], f"valid/{tag}", single(line[name])) for tag, name in (
                ("nll", "nll"), ("perplexity", "perplexity"), ("token_accuracy", "token_accuracy"),
                ("exact", "exact"), ("character_error_rate", "characters"))]
            if "metric" in line:
                found.append((line["step"], f"valid/{line['metric']['name']}", single(line["metric"]["value"])))
    return found


@pytest.mark.parametrize("metric", METRICS)
def test_what_was_written_is_what_happened(tmp_path, metric):
    folder = train_small(tmp_path / "out", f"validate.metric={metric}", "stop.steps=20", "validate.every=10")
    (file,) = files_of(folder)
    found = scalars(file.read_bytes())
    assert found == expected(folder)
    assert len({tag for _, tag, _ in found if tag.startswith("valid/")}) == (5 if metric == "loss" else 6)


def test_tensorboard_reads_them(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    folder = train_small(tmp_path / "out", "validate.metric=exact", "stop.steps=20", "validate.every=10")
    text("train", "--resume", "--output", str(folder), "--set", "stop.steps=40", "--threads", "1")
    events = accumulator.EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    found = {(scalar.step, tag, single(scalar.value)) for tag in events.Tags()["scalars"] for scalar in
             events.Scalars(tag)}
    assert found == set(expected(folder)) and any(tag == "valid/exact match" for _, tag, _ in found)
