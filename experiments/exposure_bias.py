"""Exposure bias: a decoder that only ever read right tokens meets its own mistakes.

Spelling to sound of French, 8,000 words. With the right tokens before it a token is right more often than after the model's own
output; the difference is what the remedies are for. Scheduled sampling is as long as teacher forcing; minimum risk goes on from
teacher forcing for 100 small updates, and so does a control that goes on with teacher forcing.
"""

from chart import bar_chart
from lab import table

NEEDS_DATA = "sigmorphon2021-g2p/fre_train.tsv and fre_dev.tsv"
BASE = {"model.kind": "rnn", "model.width": 128, "attention.score": "additive", "train.learning_rate": 0.003,
        "train.batch_tokens": 2048, "train.warmup": 50, "stop.steps": 600, "validate.every": 200,
        "data.source_tokens": "characters", "data.target_tokens": "words"}
LATER = {"train.learning_rate": 0.0003, "train.batch_tokens": 512, "train.warmup": 10, "stop.steps": 100, "validate.every": 100}


def run(lab):
    train, test = (lab.file(lab.data / "sigmorphon2021-g2p" / name) for name in ("fre_train.tsv", "fre_dev.tsv"))

    def first(seed):
        return lab.train(train, settings={**BASE, "train.seed": seed})

    def sampled(seed):
        return lab.train(train, settings={**BASE, "train.objective": "scheduled_sampling", "train.seed": seed})

    def longer(seed):
        return lab.train(train, settings={**LATER, "train.seed": seed}, extra=["--from", first(seed)])

    def risk(seed):
        return lab.train(train, settings={**LATER, "train.objective": "minimum_risk", "train.seed": seed},
                         extra=["--from", first(seed)])

    rows, bars = [], []
    for name, trained in (("teacher forcing", first), ("scheduled sampling", sampled),
                          ("teacher forcing, longer", longer), ("then minimum risk", risk)):
        told = lab.means(lambda seed: 100 * (1 - lab.validated(trained(seed), "token_accuracy")[-1][1]))
        alone = lab.means(lambda seed: lab.evaluate(trained(seed), test, metric="per"))
        words = lab.means(lambda seed: 100 - lab.evaluate(trained(seed), test, metric="exact"))
        rows.append([name, *("{:.2f} ± {:.2f}".format(*pair) for pair in (told, alone, words))])
        bars.append((name, *words))
    return (table(["training", "wrong phones after right ones, %", "phone errors by itself, %", "wrong words, %"], rows),
            bar_chart("Words that are wrong", "%", bars))
