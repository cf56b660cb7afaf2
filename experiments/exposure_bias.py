"""Exposure bias: a decoder that only ever read right tokens meets its own mistakes.

Spelling to sound of French, 8,000 words. With the right tokens before it a token is right more often than after the model's own
output; the difference is what the remedies are for.
"""

from lab import table

NEEDS_DATA = "sigmorphon2021-g2p/fre_train.tsv and fre_dev.tsv"
REMEDIES = {
    "teacher forcing": {},
    "scheduled sampling": {"train.objective": "scheduled_sampling"},
}


def run(lab):
    train, test = (lab.data / "sigmorphon2021-g2p" / name for name in ("fre_train.tsv", "fre_dev.tsv"))
    base = {"model.kind": "rnn", "model.width": 128, "attention.score": "additive", "train.learning_rate": 0.003,
            "train.batch_tokens": 2048, "train.warmup": 50, "stop.steps": 600, "validate.every": 200,
            "data.source_tokens": "characters", "data.target_tokens": "words"}
    rows = []
    for name, remedy in REMEDIES.items():
        def trained(seed):
            return lab.train(train, settings={**base, **remedy, "train.seed": seed})
        told = lab.means(lambda seed: 100 * (1 - lab.validated(trained(seed), "token_accuracy")[-1][1]))
        alone = lab.means(lambda seed: lab.evaluate(trained(seed), test, metric="per"))
        words = lab.means(lambda seed: 100 - lab.evaluate(trained(seed), test, metric="exact"))
        rows.append([name, *("{:.2f} ± {:.2f}".format(*pair) for pair in (told, alone, words))])
    return table(["training", "wrong phones after right ones, %", "phone errors by itself, %", "wrong words, %"], rows), None
