"""What a wrong place does to local attention.

The letters to copy stand `shift` places to the right of where a monotone window (local_m) is. The encoder's states know
their letter and their place and nothing of their neighbours, so what is outside the window is lost. local_p predicts its place, and can learn the shift.
"""

from chart import line_chart
from lab import table
from made_up import shifted_copies

SHIFTS = (0, 1, 2, 3, 5)
KINDS = {"local_m, window 1": {"attention.region": "local_m", "attention.window": 1},
         "local_m, window 3": {"attention.region": "local_m", "attention.window": 3},
         "local_p, window 1": {"attention.region": "local_p", "attention.window": 1},
         "local_p, window 3": {"attention.region": "local_p", "attention.window": 3},
         "global": {"attention.region": "global"}}


def right(lab, kind, shift):
    """Exact outputs among 500 unseen ones, in %, after 400 updates."""
    train = lab.write("train.tsv", shifted_copies(lab.size(4000), shift, 1))
    test = lab.write("test.tsv", shifted_copies(lab.size(500), shift, 2))
    settings = {"model.encoder": "convolution", "model.decoder": "rnn", "model.kernel": 1, "model.encoder_layers": 1,
                "model.width": 64, "attention.score": "additive", "data.source_tokens": "words",
                "data.target_tokens": "words", "train.learning_rate": 0.004, "train.warmup": 20,
                "train.batch_tokens": 1024, "stop.steps": 400, "validate.every": 200, **KINDS[kind]}
    return lab.means(lambda seed: lab.evaluate(lab.train(train, settings={**settings, "train.seed": seed}), test, metric="exact"))


def run(lab):
    shifts = lab.some(SHIFTS)
    found = {kind: [(shift, *right(lab, kind, shift)) for shift in shifts] for kind in KINDS}
    rows = [[shift, *("{:.1f} ± {:.1f}".format(*found[kind][n][1:]) for kind in KINDS)] for n, shift in enumerate(shifts)]
    picture = line_chart("Copies that are right", "places between the window and what is needed", "%", found)
    return table(["shift", *KINDS], rows), picture
