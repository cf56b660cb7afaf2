#!/usr/bin/env python3
"""Makes the small models beside it, with the program heed of a release that later ones must be able to read.

usage: make_models.py HEED VERSION

For each kind of model: one checkpoint of a training of a few seconds (with the state of the optimiser, so that the training
can be resumed), and answers.json, what it answered to questions.txt with each instruction set of the machine. Run it with
the program of a release, before anything changes; test_compat.py asks the same of the program of today.
"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
ISAS = ["avx512", "avx2", "sse4", "scalar"]
NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def pairs(rng):
    """12 -> one two: half a second is enough to learn it."""
    for _ in range(400):
        digits = rng.choices(range(10), k=rng.randint(1, 4))
        yield "".join(map(str, digits)), " ".join(NUMBERS[d] for d in digits)


def labelled(rng, several=False):
    good, bad = ["good", "fine", "lovely", "great"], ["bad", "awful", "poor", "sad"]
    for _ in range(400):
        kind = rng.random() < 0.5
        words = rng.choices(["a", "film", "song", "book", "very", "the", "it", "was"], k=6)
        words.insert(rng.randrange(6), rng.choice(good if kind else bad))
        labels = ["pos" if kind else "neg"] + (["film"] if several and "film" in words else [])
        yield " ".join(words) + ". " + " ".join(rng.choices(words, k=3)) + ".", ",".join(labels)


def two_texts(rng):
    for _ in range(400):
        first, second = (rng.choice(["cat", "dog", "bird", "fish"]) for _ in range(2))
        yield f"the {first} runs", f"a {second} sleeps", "same" if first == second else "other"


def story(rng):
    lines = {"the cat sat": " on the mat.", "a dog ran": " in the park.", "the bird flew": " to the tree."}
    for _ in range(200):
        first = rng.choice(list(lines))
        yield (first + lines[first],)


PAIR_QUESTIONS = ["12", "305", "9", "4471", "77777", "x1"]
TEXT_QUESTIONS = ["the film was very good. it was.", "awful song. the book was sad.", "nothing known here"]

# name: rows of its data, settings, questions
MODELS = {
    "pairs_rnn": (pairs, ["model.kind=rnn", "attention.score=additive", "model.input_feeding=true"], PAIR_QUESTIONS),
    "pairs_transformer": (pairs, ["model.kind=transformer", "attention.heads=2", "model.tied=all", "data.joint=true",
                                  "data.source_tokens=characters"], PAIR_QUESTIONS),
    "pairs_pieces": (pairs, ["model.kind=transformer", "attention.heads=2", "data.target_tokens=sentencepiece",
                             "data.target_size=24"], PAIR_QUESTIONS),
    "pairs_local_average": (pairs, ["model.kind=rnn", "attention.score=general", "attention.region=local_p",
                                    "train.average=0.9"], PAIR_QUESTIONS),
    "pairs_parallel": (pairs, ["model.encoder=transformer", "model.decoder=parallel", "attention.heads=2"], PAIR_QUESTIONS),
    "label_hierarchical": (labelled, ["model.task=label", "model.kind=rnn", "attention.structure=hierarchical"],
                           TEXT_QUESTIONS),
    "label_several": (lambda rng: labelled(rng, True), ["model.task=label", "model.kind=transformer", "model.pool=mean",
                                                        "data.labels_between=,"], TEXT_QUESTIONS),
    "label_two_texts": (two_texts, ["model.task=label", "model.kind=rnn", "data.second_text_column=2",
                                    "data.text_column=1", "data.label_column=3"],
                        ["the cat runs\ta cat sleeps", "the dog runs\ta fish sleeps"]),
    "next_token_rnn": (story, ["model.task=next_token", "model.kind=rnn", "model.cell=lstm", "model.look_back=attention",
                               "model.context=64"], ["the cat", "a dog ran", "the"]),
    "next_token_transformer": (story, ["model.task=next_token", "model.kind=transformer", "attention.heads=2",
                                       "model.context=64"], ["the cat", "a dog ran", "the"]),
    "picture": (None, ["model.task=picture", "data.task=scenes", "data.examples=300", "data.valid_examples=20"],
                ["scene:17\tcircle", "scene:18\tring"]),
}
COMMON = ["model.width=12", "model.dropout=0", "train.batch_tokens=256", "train.learning_rate=0.01",
          "train.schedule=inverse_sqrt", "train.warmup=20", "stop.steps=150", "stop.epochs=0", "validate.every=50",
          "validate.metric=loss", "validate.longest=30"]


def run(program, *arguments, given="", cwd=None, **environment):
    done = subprocess.run([program, *map(str, arguments)], input=given.encode(), capture_output=True, check=False, cwd=cwd,
                          env={**os.environ, **environment})
    assert done.returncode == 0, (arguments, done.stderr.decode())
    return done.stdout.decode()


def make(program, name, folder, work):
    rows, settings, questions = MODELS[name]
    task = next((key for key in settings if key.startswith("model.task")), "")
    layers = {"": ["model.encoder_layers=1", "model.decoder_layers=1"], "model.task=next_token": ["model.layers=1"],
              "model.task=picture": ["model.decoder_layers=1"]}.get(task, ["model.encoder_layers=1"])
    words = [word for key in [*COMMON, *layers, *settings] for word in ("--set", key)]
    if rows is None:
        recipe = work / f"{name}.toml"
        recipe.write_text("")
        data = recipe
    else:
        data = work / (f"{name}.txt" if rows is story else f"{name}.tsv")
        data.write_text("".join("\t".join(row) + "\n" for row in rows(random.Random(1))))
    # Relative names: no path of the machine stands in the checkpoint.
    run(program, "train", data.name, "--output", name, "--threads", "1", *words, cwd=work)
    last = sorted((work / name).glob("step-*"))[-1]
    shutil.copytree(last, folder / "checkpoint")
    (folder / "questions.txt").write_text("".join(line + "\n" for line in questions))
    lines = (folder / "questions.txt").read_text()
    answers = {isa: [json.loads(line) for line in run(program, "predict", folder / "checkpoint", "--json", "--scores",
                                                      "--max-length", "20", given=lines, HEED_ISA=isa).splitlines()]
               for isa in ISAS}
    (folder / "answers.json").write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n")
    if name == "pairs_rnn":
        run(program, "export", folder / "checkpoint", "--output", folder / "model.heed")


def main():
    program, version = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as work:
        for name in MODELS:
            folder = HERE / version / name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            make(program, name, folder, pathlib.Path(work))
            size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
            answers = json.loads((folder / "answers.json").read_text())["scalar"]
            print(name, size, [one.get("output") for one in answers], flush=True)


if __name__ == "__main__":
    main()
