#!/usr/bin/env python3
"""Writes rouge.json: ROUGE-1, ROUGE-2 and ROUGE-L of invented texts, as rouge-score has them, without stemming.

usage: make_rouge.py > rouge.json

Needs the package rouge-score (made with 0.1.2). All sentences were invented for this file or are made of invented words.
"""
import json
import random

from rouge_score import rouge_scorer

# name: [(hypothesis, [references])]
WRITTEN = {
    "summaries": [
        ("the cat sat on the mat", ["the cat lay on a mat"]),
        ("A library for reading PNG-files (runtime)", ["library that reads PNG files, runtime files"]),
        ("", ["nothing was said"]),
        ("one word", [""]),
        ("!!", ["??"]),
        ("b a b a b a", ["a b"]),
    ],
    "other scripts": [
        ("der M\u00fcller l\u00e4uft", ["Der M\u00dcLLER l\u00e4uft heim"]),
        ("\u8001 \u9762\u5305\u5e08 makes 12 loaves", ["\u9762\u5305\u5e08 makes twelve loaves"]),
        ("273 \u212a is cold, \u0130stanbul is not", ["273 k is cold; istanbul is not"]),
    ],
    "several references": [
        ("fast tool for text", ["a tool for texts", "fast text tool", "tool"]),
        ("x y z", ["z y x", "x z", "y"]),
    ],
}


def invented(seed):
    rng = random.Random(seed)
    words = ["".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(rng.randint(1, 3))) for _ in range(20)]
    pairs = []
    for _ in range(30):
        reference = [rng.choice(words) for _ in range(rng.randint(1, 15))]
        said = [rng.choice(words) if rng.random() < 0.2 else word for word in reference if rng.random() > 0.15]
        if rng.random() < 0.3:
            rng.shuffle(said)
        pairs.append((" ".join(said), [" ".join(reference), " ".join(rng.sample(words, 5))][: rng.randint(1, 2)]))
    return pairs


KINDS = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-l": "rougeL"}


def main():
    scorer = rouge_scorer.RougeScorer(list(KINDS.values()), use_stemmer=False)
    cases = []
    for name, pairs in [*WRITTEN.items(), *((f"invented {seed}", invented(seed)) for seed in range(3))]:
        found = [scorer.score_multi(references, said) for said, references in pairs]
        cases.append({
            "name": name,
            "hypotheses": [said for said, _ in pairs],
            "references": [references for _, references in pairs],
            **{ours: [100 * each[theirs].fmeasure for each in found] for ours, theirs in KINDS.items()},
        })
    print(json.dumps({"cases": cases}, indent=1))


main()
