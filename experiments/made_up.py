"""Pairs of texts that show one thing each."""

import random
import string


def tsv(pairs):
    return "".join(f"{source}\t{target}\n" for source, target in pairs)


def letters(rng, length):
    return "".join(rng.choice(string.ascii_lowercase) for _ in range(length))


FEW = "abcdefgh"


def placed(word):
    """Each letter with its place, "c0 a1 b2": for encoders whose states know nothing else of where they are."""
    return " ".join(f"{letter}{place}" for place, letter in enumerate(word))


def shifted_copies(count, shift, seed):
    """The target is the source without its first `shift` letters: output i is found at place i + shift."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        word = "".join(rng.choice(FEW) for _ in range(rng.randint(5, 10)))
        before = "".join(rng.choice(FEW) for _ in range(shift))
        pairs.append((placed(before + word), " ".join(word)))
    return tsv(pairs)


def ciphered(count, seed):
    """Each letter becomes the next one: output i is found at place i, and nowhere else."""
    rng = random.Random(seed)
    words = ["".join(rng.choice(FEW) for _ in range(rng.randint(5, 10))) for _ in range(count)]
    turned = str.maketrans(FEW, FEW[1:] + FEW[0])
    return [(placed(word), " ".join(word.translate(turned))) for word in words]


def doubled(count, least, most, seed):
    """Every letter twice: an output twice as long as its source."""
    rng = random.Random(seed)
    words = [letters(rng, rng.randint(least, most)) for _ in range(count)]
    return tsv([(word, "".join(c + c for c in word)) for word in words])
