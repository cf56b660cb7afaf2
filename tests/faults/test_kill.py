# slow: 10 s
"""kill -9 at every call to the disk: --resume goes on to the same bits."""
from faulty import EVERY, STEPS, answered, calls_of, digest, faults, leftovers, losses, some, train


def test_killed_at_every_call_and_resumed(recipe, whole, tmp_path):
    calls = calls_of(recipe, tmp_path)
    assert calls > 100
    for at in some(range(1, calls + 1), 12):
        out = tmp_path / f"out-{at}"
        assert train(recipe, out, **faults(out, at)).returncode == -9, at
        answered(train(recipe, out, "--resume"), 0)
        assert digest(out) == digest(whole), at
        assert losses(out) == losses(whole) and losses(out)[-1][0] == STEPS, at
        assert leftovers(out) == [], at


def test_killed_again_and_again(recipe, whole, tmp_path):
    """Each run is killed a little later than the one before it; one of them comes to the end."""
    out = tmp_path / "out"
    runs = 0
    for at in range(40, 4000, 1 if EVERY else 60):
        runs += 1
        done = train(recipe, out, "--resume", **faults(out, at))
        if done.returncode == 0:
            break
        assert done.returncode == -9, (at, done.stderr)
    assert runs > 3
    assert digest(out) == digest(whole) and losses(out) == losses(whole)
