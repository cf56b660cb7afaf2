"""One context for all, a new one each step, and forced forward, by the length of the output.

Every letter of the source is written twice. Static attention has one context for the whole output, whatever its length; dynamic
attention looks anew at each step; forced-forward attention divides by what it has looked at before.
"""

from chart import line_chart
from lab import table
from made_up import doubled

LENGTHS = ((3, 5), (8, 10), (13, 15), (18, 20), (28, 30))
KINDS = ("dynamic", "forced_forward", "static")


def model(lab, kind, seed):
    train = lab.write("train.tsv", doubled(lab.size(6000), 2, 20, 1))
    settings = {"model.kind": "rnn", "model.width": 96, "attention.score": "additive", "attention.time": kind,
                "data.source_tokens": "characters", "data.target_tokens": "characters", "train.learning_rate": 0.004,
                "train.warmup": 20, "train.batch_tokens": 2048, "stop.steps": 700, "validate.every": 350,
                "validate.longest": 80, "train.seed": seed}
    return lab.train(train, settings=settings)


def run(lab):
    found = {kind: [] for kind in KINDS}
    rows = []
    for least, most in lab.some(LENGTHS):
        test = lab.write("test.tsv", doubled(lab.size(200), least, most, most))
        row = [f"{2 * least} to {2 * most}"]
        for kind in KINDS:
            mean, spread = lab.means(lambda seed: max(0, 100 - lab.evaluate(model(lab, kind, seed), test, metric="cer")))
            found[kind].append((least + most, mean, spread))
            row.append(f"{mean:.1f} ± {spread:.1f}")
        rows.append(row)
    picture = line_chart("Letters that are right", "length of the output", "%", found)
    return table(["letters of the output", *KINDS], rows), picture
