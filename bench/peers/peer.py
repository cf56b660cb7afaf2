"""What every peer shares: the protocol, the sampling rule and the check of results.

A peer is a script with a class that has
    name        how it appears in the table
    about()     a dict for the record (version and the like)
    prepare(spec, load, threads)
                returns a function that computes the case once and returns {name of result: array}, or
                {name of a way: function} where the peer has several ways, of which the fastest takes part, or None
                where the peer cannot run this case; load("q") gives a tensor that heed read or wrote
    use_threads(threads)
                called before a function that was prepared for this many threads
It answers JSON lines on standard input:
    {"op": "hello"}                                   -> about()
    {"op": "open", "spec", "folder", "threads": [..]}
                      -> {"threads": {n: {"agrees", "difference", "way", "ways": {name: ms}} or {"skipped"}}}
    {"op": "round", "threads": n}                     -> {"ms"}
Its time counts only where its results agree with heed's.
"""

import ctypes
import functools
import json
import math
import os
import sys
import time

import numpy

SAMPLE_SECONDS = 0.040  # as kSampleMs in timing.h
UNTIL_OTHERS_SLEEP = 0.020  # seconds, as kUntilOthersSleep there
AGREEMENT = 1e-4  # as kAgreement in case.h
TRIALS = 3  # samples of each of several ways, before the fastest is taken


def sample_ms(call):
    """Milliseconds per call, by the rule of timing.h."""
    time.sleep(UNTIL_OTHERS_SLEEP)
    start = time.perf_counter()
    call()
    first = time.perf_counter() - start
    if first >= SAMPLE_SECONDS:
        return first * 1e3
    calls = math.ceil(SAMPLE_SECONDS / max(first, 1e-6))
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls * 1e3


def difference(results, load):
    """Largest difference to heed's results, each over the largest element of its tensor.

    A gradient that the formula makes zero (a number that softmax does not see) is rounding in both, so nothing counts
    as smaller than a hundredth of the largest of all.
    """
    expected = {name: load(name) for name in results}
    largest = max(float(numpy.abs(theirs).max()) for theirs in expected.values())
    worst = 0.0
    for name, theirs in expected.items():
        mine = numpy.asarray(results[name]).reshape(theirs.shape)
        if not numpy.isfinite(mine).all():
            return math.inf
        size = max(float(numpy.abs(theirs).max()), 1e-2 * largest)
        worst = max(worst, float(numpy.abs(mine - theirs).max()) / size)
    return worst


def limit_openblas(threads):
    """OpenBLAS has threads of its own, which a framework that was linked against it does not limit."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        files = {line.split()[-1] for line in maps if "libopenblas" in line}
    for file in files:
        set_threads = getattr(ctypes.CDLL(file), "openblas_set_num_threads", None)
        if set_threads is not None:
            set_threads(threads)


def open_case(peer, request, prepared):
    @functools.cache  # once for all numbers of threads: keys and values may be gigabytes
    def load(name):
        return numpy.load(os.path.join(request["folder"], name + ".npy"))

    prepared.clear()
    replies = {}
    for threads in request["threads"]:
        peer.use_threads(threads)
        ways = peer.prepare(request["spec"], load, threads)
        if ways is None:
            replies[threads] = {"skipped": True}
            continue
        if not isinstance(ways, dict):
            ways = {"": ways}
        apart = {way: difference(run(), load) for way, run in ways.items()}
        agreeing = [way for way in ways if apart[way] <= AGREEMENT]
        if not agreeing:
            replies[threads] = {"difference": min(apart.values()), "agrees": False}
            continue
        times = {way: min(sample_ms(ways[way]) for _ in range(TRIALS)) for way in agreeing} if len(agreeing) > 1 else {}
        best = min(agreeing, key=lambda way: times.get(way, 0.0))
        replies[threads] = {"difference": apart[best], "agrees": True, "way": best, "ways": times}
        prepared[threads] = ways[best]
    return {"threads": replies}


def serve(peer):
    replies = sys.stdout
    sys.stdout = sys.stderr  # what a framework prints must not get between the replies
    prepared = {}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["op"] == "hello":
                reply = {"name": peer.name, **peer.about()}
            elif request["op"] == "open":
                reply = open_case(peer, request, prepared)
            else:
                peer.use_threads(request["threads"])
                reply = {"ms": sample_ms(prepared[request["threads"]])}
        except Exception as problem:  # a peer's failure is a note in the table, never the end of the run
            reply = {"error": f"{type(problem).__name__}: {problem}".splitlines()[0]}
        print(json.dumps(reply), file=replies, flush=True)
