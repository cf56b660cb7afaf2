"""Hard and soft attention when the alignment is wrong.

A cipher of letters, where place i of the source is all that output i needs. Alignments are given in training, and some
of them are moved to a place next to the right one. Hard attention has only the letter it looks at; soft attention can hedge.
"""

import random

from chart import line_chart
from lab import table
from made_up import ciphered, tsv

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
KINDS = {"softmax": "softmax", "sparsemax": "sparsemax", "hard": "hard"}


def links(pairs, share, seed):
    rng = random.Random(seed)
    lines = []
    for source, _ in pairs:
        places, letters = [], source.count(" ") + 1
        for i in range(letters):
            j = i if rng.random() >= share else (i + 1 if i + 1 < letters else i - 1)
            places.append(f"{j}-{i}")
        lines.append(" ".join(places))
    return "\n".join(lines) + "\n"


def right(lab, kind, share):
    """Letters that are right among 500 unseen words, in %, after 400 updates."""
    pairs = ciphered(lab.size(4000), 1)
    train, test = lab.write("train.tsv", tsv(pairs)), lab.write("test.tsv", tsv(ciphered(lab.size(500), 2)))
    given = lab.write("links", links(pairs, share, 3))
    settings = {"model.encoder": "convolution", "model.decoder": "rnn", "model.kernel": 1, "model.encoder_layers": 1,
                "model.width": 64, "attention.score": "additive", "attention.normalise": KINDS[kind],
                "data.source_tokens": "words", "data.target_tokens": "words", "data.alignments": given,
                "train.align_weight": 1.0, "train.learning_rate": 0.004, "train.warmup": 20, "train.batch_tokens": 1024,
                "stop.steps": 400, "validate.every": 200}
    return lab.means(lambda seed: 100 - lab.evaluate(lab.train(train, settings={**settings, "train.seed": seed}), test, metric="wer"))


def run(lab):
    shares = lab.some(SHARES)
    found = {kind: [(100 * share, *right(lab, kind, share)) for share in shares] for kind in KINDS}
    rows = [[f"{100 * s:.0f} %", *("{:.1f} ± {:.1f}".format(*found[kind][n][1:]) for kind in KINDS)]
            for n, s in enumerate(shares)]
    picture = line_chart("Letters that are right", "alignments that are wrong, %", "%", found)
    return table(["wrong alignments", *KINDS], rows), picture
