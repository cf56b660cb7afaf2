# slow: 20 s
"""heed serve where one allocation fails: its request is answered 503 no_memory, or as usual, and the server lives.

The allocations are counted from when a client begins to ask, over all threads of the server, and each request is asked
again and again, with another of them failing every time, until none is left that could.
"""
import collections
import contextlib
import json
import mmap
import os
import struct

import pytest
from faulty import some
from heed_program import train_small
from heed_server import Server, answers_in, everything
from picture_model import inline, png, train_colours
from story_model import train_story

SHIM = os.environ["HEED_MEMORY_ORDERS"]
FEW = 120  # allocations of each request that fail, unless all do


class Faults:
    """The orders of memory_orders.cc."""
    def __init__(self, path):
        path.write_bytes(bytes(16))
        with open(path, "r+b") as file:
            self.orders = mmap.mmap(file.fileno(), 16)

    def fail(self, number):
        """The allocation that comes after number - 1 others; 0: none."""
        self.orders[:16] = struct.pack("<qq", number, 0)

    @property
    def failed(self):
        return struct.unpack("<q", self.orders[8:16])[0] > 0

    @property
    def left(self):
        return struct.unpack("<q", self.orders[:8])[0]


@pytest.fixture(name="served", scope="module")
def served_models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    faults = Faults(folder / "orders")
    small, story = train_small(folder / "small"), train_story(folder / "texts")
    colours = train_colours(folder / "colours")
    environment = {"LD_PRELOAD": SHIM, "MEMORY_ORDERS": str(folder / "orders")}
    with Server(small, story, colours, "--threads", "2", "--log", folder / "log", environment=environment) as server:
        yield server, faults


def request(path, body=None, close=True):
    body = b"" if body is None else json.dumps(body).encode()
    return (f"{'POST' if body else 'GET'} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n{'Connection: close' if close else 'X: y'}\r\n\r\n").encode() + body


PREDICT = request("/v1/predict", {"model": "small", "input": "abcd", "beam": 3, "nbest": 2, "alignments": "matrix"})
PICTURE = inline(png(20, 10, (200, 20, 20), interlaced=True))
REQUESTS = {
    "predict": PREDICT,
    "several": request("/v1/predict", {"model": "small", "inputs": ["abc", "de", "f", "ghij"]}),
    "stream": request("/v1/predict", {"model": "small", "input": "abcdefgh", "stream": True}),
    "score": request("/v1/score", {"model": "small", "pairs": [{"source": "ab", "target": "ba"}] * 3, "scores": True}),
    "attention": request("/v1/attention", {"model": "small", "input": "abcd", "beam": 2}),
    "completion": request("/v1/completions", {"model": "story", "prompt": ["the cat", "a dog"], "logprobs": 1,
                                              "max_tokens": 6, "temperature": 0, "stop": ["."]}),
    "completion_stream": request("/v1/completions", {"model": "story", "prompt": "the cat", "max_tokens": 8,
                                                     "temperature": 0, "stream": True}),
    "picture": request("/v1/predict", {"model": "colours", "input": PICTURE + "\twhich colour"}),
    "picture_attention": request("/v1/attention", {"model": "colours", "input": PICTURE + "\twhich colour"}),
    "models": request("/v1/models"),
    "training": request("/v1/training"),
    "metrics": request("/metrics"),
    "page": request("/"),
    "mistake": request("/v1/predict", {"model": "small", "inptu": "abcd"}),
    "no_http": b"this is not HTTP\r\n\r\n",
    "chunks": PREDICT.replace(b"Content-Length: ", b"Transfer-Encoding: chunked\r\nX-Length: ").replace(
        b"\r\n\r\n", b"\r\n\r\n%x\r\n" % len(PREDICT.partition(b"\r\n\r\n")[2])) + b"\r\n0\r\n\r\n",
}


def asked(server, text):
    with server.connect(timeout=20) as client:
        with contextlib.suppress(ConnectionError):
            client.sendall(text)
        return everything(client)


def without_times(said):
    """What does not change from one answer to the next."""
    lines = said.split(b"\r\n")
    said = b"\r\n".join(line for line in lines if not line.startswith((b"Date: ", b"X-Request-Id: ")))
    head, end, body = said.partition(b"\r\n\r\n")
    if b"cmpl-" in body:
        texts = [part["choices"] for line in body.split(b"\n") if b'"choices"' in line
                 for part in [json.loads(line.removeprefix(b"data: "))]]
        return json.dumps(texts).encode()
    return head + end + body


def kind_of(said, whole):
    """How a request with a fault was answered."""
    if not said:
        return "no answer"
    if b"no_memory" in said:
        if said.startswith(b"HTTP/1.1 503 "):
            answer, = answers_in(said)
            assert answer.code == "no_memory" and answer.headers["Retry-After"] and answer.headers["X-Request-Id"], said
            return "503"
        assert b"text/event-stream" in said and said.count(b"no_memory") == 1, said
        return "an event says so"
    if whole is None or without_times(said) == whole:
        return "as usual"
    return "cut" if b"text/event-stream" in said and b"[DONE]" not in said else f"other: {said!r}"


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_with_one_failure(served, name):
    server, faults = served
    text, kinds = REQUESTS[name], collections.Counter()
    faults.fail(0)
    asked(server, text)  # what is made once is made now
    changes = name == "metrics"
    whole = None if changes else without_times(asked(server, text))
    most = 1_000_000
    faults.fail(most)
    asked(server, text)
    count = most - faults.left
    assert count > 10
    for number in some(range(1, count + 1), FEW):
        faults.fail(number)
        said = asked(server, text)
        failed = faults.failed
        faults.fail(0)
        assert server.process.poll() is None, f"allocation {number} of {count}: the server ended"
        kind = kind_of(said, whole)
        assert not kind.startswith("other"), f"allocation {number} of {count}: {kind}"
        if failed:
            kinds[kind] += 1
        # The next request finds a server that has all its threads.
        if number % 10 == 0 or kind not in ("as usual", "503"):
            again = asked(server, text)
            assert whole is None or without_times(again) == whole, f"after allocation {number} of {count}: {again!r}"
    # A connection for which there was no memory at all can be told nothing.
    assert sum(kinds.values()) > 5 and kinds["no answer"] <= 3 + 0.03 * sum(kinds.values()), kinds
    print(name, count, dict(kinds))
