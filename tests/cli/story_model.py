"""A model of running text, trained in no time, whose answers take as long as they are asked to be long."""
import random
import time

from heed_program import heed

STORY = {"the cat sat": " on the mat.", "a dog ran": " in the park.", "the bird flew": " to the tree.",
         "a fish swam": " in the sea."}


MOST_TOKENS = 1_000_000  # the server takes no more: some seconds


def train_story(folder, *settings):
    rng = random.Random(1)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "story.txt").write_text("".join(first + STORY[first] + "\n" for first in rng.choices(list(STORY), k=300)))
    keys = ["model.kind=rnn", "model.cell=lstm", "model.look_back=none", "model.width=32", "model.context=64",
            "model.layers=1", "model.dropout=0", "train.batch_tokens=512", "train.learning_rate=0.01", "stop.steps=30"]
    done = heed("train", str(folder / "story.txt"), "--output", str(folder / "story"), "--threads", "1",
                *[word for key in [*keys, *settings] for word in ("--set", key)])
    assert done.returncode == 0, done.stderr
    return folder / "story"


def tokens_for(server, seconds, **headers):
    """How many tokens to ask for, so that an answer takes about this long here."""
    count = 2000
    while True:
        begin = time.monotonic()
        answer = server.post("/v1/completions", long_question(count), **headers)
        took = time.monotonic() - begin
        assert answer.status == 200, answer.text
        if took > 0.05:
            return min(MOST_TOKENS, int(count * seconds / took))
        count *= 4


def long_question(tokens):
    return {"model": "story", "prompt": "the cat", "max_tokens": tokens, "temperature": 0}
