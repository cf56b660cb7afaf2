#!/usr/bin/env python3
"""Writes error_rates.json: word and character error rates of invented texts, as jiwer has them.

usage: make_error_rates.py > error_rates.json

Needs the package jiwer (made with 4.0.0). All sentences were invented for this file or are made of invented words.
"""
import json
import random

import jiwer

# name: [(hypothesis, reference)]
WRITTEN = {
    "spoken": [
        ("the baker sold twelve loaves today", "the old baker sold twelve loaves"),
        ("it cost a thousand crowns", "it cost one thousand crowns"),
        ("", "nobody heard this"),
        ("yes yes yes we are coming", "yes we are coming"),
    ],
    "blanks and points": [
        ("two  blanks , everywhere", "two blanks, everywhere"),
        ("The Miller's hat.", "the miller's hat"),
    ],
    "other scripts": [
        ("der Müller ging über die Straße", "der Müller läuft über die Strasse"),
        ("старый мельник купил муки", "старый мельник купил много муки"),
        ("老 面包师 卖 了 面包", "老 面包师 早上 卖 面包"),
    ],
    "more errors than words": [("a b c d e f", "x"), ("k l m", "y z")],
    "phones": [("b ey k er", "b ey k ah r"), ("m ih l", "m ih l er")],
    "all right": [("here we are", "here we are"), ("so it is", "so it is")],
}


def invented(seed):
    """Sentences with words left out, put in, replaced and swapped."""
    rng = random.Random(seed)
    words = ["".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(rng.randint(1, 3))) for _ in range(30)]
    pairs = []
    for _ in range(40):
        reference = [rng.choice(words) for _ in range(rng.randint(1, 15))]
        hypothesis = []
        for word in reference:
            what = rng.random()
            if what < 0.1:
                continue
            hypothesis.append(rng.choice(words) if what < 0.2 else word)
            if what > 0.9:
                hypothesis.append(rng.choice(words))
        pairs.append((" ".join(hypothesis), " ".join(reference)))
    return pairs


def main():
    cases = []
    for name, pairs in [*WRITTEN.items(), *((f"invented {seed}", invented(seed)) for seed in range(3))]:
        said, right = [h for h, _ in pairs], [r for _, r in pairs]
        words, characters = jiwer.process_words(right, said), jiwer.process_characters(right, said)
        cases.append({
            "name": name, "hypotheses": said, "references": right, "wer": 100 * words.wer, "cer": 100 * characters.cer,
            "segments": [100 * jiwer.wer(r, h) for h, r in pairs],
        })
    print(json.dumps({"cases": cases}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
