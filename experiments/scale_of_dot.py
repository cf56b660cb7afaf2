"""Why scores are divided by the root of the width.

A product of D independent numbers has a variance of D. Without the division the softmax of wide queries and keys is nearly
one-hot, and almost no gradient passes through it: the derivative of a weight p_j by its score is p_j (1 - p_j).
"""

import numpy as np

from chart import line_chart
from lab import table

WIDTHS = (4, 16, 64, 256, 1024)
KEYS = 64
TRAINED_WIDTHS = (16, 64, 256)


def random_rows(width):
    """Entropy of the weights in bits, and how much gradient passes the softmax, of unit normal queries and keys."""
    import heed

    numbers = np.random.default_rng(width)
    q = numbers.standard_normal((4, 1, KEYS, width), dtype=np.float32)
    k = numbers.standard_normal((4, 1, KEYS, width), dtype=np.float32)
    found = {}
    for score in ("dot", "scaled_dot"):
        p = heed.attend(q, k, k, score=score, return_weights=True).weights.astype(np.float64)
        entropy = -(p * np.log2(np.maximum(p, 1e-300))).sum(-1).mean()
        found[score] = (entropy, (p * (1 - p)).sum(-1).mean())
    return found


def trained(lab, score, width):
    """Validation loss of a Transformer of one head that reads dates, after 150 updates."""
    settings = {"model.kind": "transformer", "model.width": width, "model.encoder_layers": 1,
                "model.decoder_layers": 1, "attention.heads": 1, "attention.score": score, "train.learning_rate": 0.002,
                "train.warmup": 30, "stop.steps": 150, "validate.every": 150, "validate.metric": "loss"}
    return lab.means(lambda seed: lab.best_loss(lab.train(lab.recipe("dates"), settings={**settings, "train.seed": seed})))


def run(lab):
    rows, entropies = [], {"dot": [], "scaled_dot": []}
    for width in lab.some(WIDTHS):
        found = random_rows(width)
        for score in entropies:
            entropies[score].append((width, found[score][0]))
        rows.append([width, *(f"{found[s][0]:.2f}" for s in entropies), *(f"{found[s][1]:.3f}" for s in entropies)])
    numbers = table(["width", "entropy: dot", "scaled_dot", "gradient: dot", "scaled_dot"], rows)
    losses = table(["width of the one head", "loss: dot", "scaled_dot"],
                   [[w, *("{:.3f} ± {:.3f}".format(*trained(lab, s, w)) for s in entropies)] for w in lab.some(TRAINED_WIDTHS)])
    picture = line_chart("Entropy of the weights of 64 keys", "width", "bits (6: all equal)", entropies, log_x=True,
                         ticks_x=WIDTHS)
    return numbers + "\n\n" + losses, picture
