"""Synthesizers beside the dot product: translation, dialogue, and fine-tuning.

Weights that do not compare queries with keys (Tay et al. 2021), in the encoder's and the decoder's self-attention. The notes say:
in translation about as good, in dialogue better, after fine-tuning worse. Fine-tuning here: an encoder that learned masked tokens
of English goes on as the encoder of a translation from few pairs.
"""

from chart import bar_chart
from lab import table

NEEDS_DATA = "multi30k-en-de-bpe10k/{train,valid}.{en,de} and cornell-dialogue/train.tsv"
SCORES = ("scaled_dot", "synthesizer_dense", "synthesizer_random")
PAIRS, FEW_PAIRS = 12000, 3000
STEPS, FEW_STEPS = 250, 100
LONGEST = 48  # tokens; a Synthesizer has a number per position, so it must be told
MODEL = {"model.kind": "transformer", "model.width": 128, "model.hidden": 256, "model.encoder_layers": 2,
         "attention.heads": 4, "attention.max_length": 64, "train.learning_rate": 0.002, "train.batch_tokens": 2048,
         "train.warmup": 60}
PAIRS_MODEL = {**MODEL, "model.decoder_layers": 2, "validate.metric": "loss", "data.source_tokens": "words",
               "data.target_tokens": "words", "data.source_size": 4000, "data.target_size": 4000,
               "data.max_source": LONGEST, "data.max_target": LONGEST}


def first_lines(lab, name, lines, count):
    return lab.write(name, "\n".join(lines[:lab.size(count)]) + "\n")


def loss(lab, data, score, seed, steps, extra=()):
    settings = {**PAIRS_MODEL, "attention.score": score, "train.seed": seed, "stop.steps": steps, "validate.every": steps}
    return lab.train(*data, settings=settings, extra=extra)


def run(lab):
    folder = lab.data / "multi30k-en-de-bpe10k"
    english, german = ((folder / f"train.{side}").read_text().splitlines() for side in ("en", "de"))
    translation = [first_lines(lab, "train.en", english, PAIRS), first_lines(lab, "train.de", german, PAIRS)]
    few = [first_lines(lab, "few.en", english, FEW_PAIRS), first_lines(lab, "few.de", german, FEW_PAIRS)]
    turns = (lab.data / "cornell-dialogue" / "train.tsv").read_text().splitlines()
    dialogue = [first_lines(lab, "turns.tsv", turns, PAIRS)]

    bars = []

    def row(score):
        def on(data, steps, extra=()):
            mean, spread = lab.means(lambda seed: lab.best_loss(loss(lab, data, score, seed, steps, extra)))
            what = "fine-tuned" if extra else "few pairs" if data is few else "dialogue" if data is dialogue else "translation"
            bars.append((f"{what}: {score}", mean, spread))
            return f"{mean:.3f} ± {spread:.3f}"
        bleu = lab.means(lambda seed: lab.evaluate(loss(lab, translation, score, seed, STEPS), lab.file(folder / "valid.en"),
                                                   lab.file(folder / "valid.de"), metric="bleu"))
        masked = lab.train(first_lines(lab, "english.txt", english, len(english)), settings={
            **{key: value for key, value in MODEL.items() if key != "model.encoder_layers"}, "model.layers": 2,
            "model.context": LONGEST, "data.documents": "line", "model.task": "masked_language_model",
            "attention.score": score, "data.text_tokens": "words", "data.text_size": 4000, "stop.steps": STEPS, "validate.every": STEPS})
        return [score, on(translation, STEPS), "{:.2f} ± {:.2f}".format(*bleu), on(dialogue, STEPS), on(few, FEW_STEPS),
                on(few, FEW_STEPS, ["--from", masked])]

    rows = table(["self-attention", "translation: loss", "BLEU", "dialogue: loss", f"{FEW_PAIRS} pairs: loss",
                  "after masked tokens: loss"], [row(score) for score in SCORES])
    return rows, bar_chart("Loss per token of texts that were held out", "lower is better", sorted(
        bars, key=lambda bar: ("tdff".index(bar[0][0]), bar[0].startswith("fine"))))
