"""Few labels, much text: what masked tokens teach an encoder.

R8 with 500 labelled texts. The other texts have no labels: a masked language model learns from them, and the labels start from
its encoder. 1,000 texts that nothing was trained on are what counts.
"""

import random

from chart import bar_chart
from lab import table

NEEDS_DATA = "r8/train.txt"
FEW, TEST = 500, 1000
EPOCHS_OF_TEXTS = 10


def parts(lab):
    lines = [line for line in (lab.data / "r8" / "train.txt").read_text().splitlines() if line.strip()]
    random.Random(1).shuffle(lines)
    few_end = lab.size(TEST) + lab.size(FEW)
    test, few, rest = lines[:lab.size(TEST)], lines[lab.size(TEST):few_end], lines[few_end:]
    texts = "".join(line.split("\t")[1] + "\n" for line in rest)
    return (lab.write("few.tsv", "\n".join(few) + "\n"), lab.write("test.tsv", "\n".join(test) + "\n"),
            lab.write("texts.txt", texts))


def run(lab):
    few, test, texts = parts(lab)
    pretrained = lab.train(texts, settings={"model.task": "masked_language_model", "stop.epochs": EPOCHS_OF_TEXTS})

    def accuracy(settings, extra=()):
        return lab.means(lambda seed: lab.evaluate(
            lab.train(few, settings={"model.task": "classification", **settings, "train.seed": seed}, extra=extra), test,
            metric="accuracy"))

    same = {"model.kind": "transformer", "model.width": 128, "model.encoder_layers": 4, "attention.heads": 4,
            "data.source_tokens": "sentencepiece", "data.source_size": 4000}
    rows = [("what heed train chooses", *accuracy({})),
            ("the same encoder, from random numbers", *accuracy(same)),
            ("the encoder that learned masked tokens", *accuracy({}, ["--from", pretrained]))]
    return (table([f"trained on {FEW} labels", f"accuracy on {TEST} others, %"],
                  [[name, f"{mean:.1f} ± {spread:.1f}"] for name, mean, spread in rows]),
            bar_chart(f"Labels of {TEST} texts that are right after {FEW} labels", "%", rows))
