#!/usr/bin/env python3
"""heed serve for a long time: make soak. 10,000 idle connections, then clients of all kinds, while the memory is watched.

    HEED=build/cli/heed HEED_SOURCE=. PYTHONPATH=tests/cli python3 tests/serve/soak.py [--seconds 600] [--idle 10000]

Every answer is checked, models are reloaded all the time, and some clients misbehave. Fails if an answer is wrong or lost,
if the memory grows or is ever more than a bound, if a sanitizer has something to say, or if the server does not end well.
"""
import argparse
import collections
import contextlib
import http.client
import json
import os
import pathlib
import random
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from heed_program import PROGRAM, train_small
from heed_server import Server, everything, metrics, until
from picture_model import inline, png, train_colours
from story_model import train_story

CLIENTS = 12
RELOAD_SECONDS = 7.0
MEMORY_SECONDS = 1.0
GROWTH_MB = 8.0  # between the second quarter and the last; the allocator's own noise is less
MOST_WEIGHTS, MOST_ANSWER, MOST_PIXELS, THREADS = 1_000_000, 2_000_000, 1_000_000, 2
# As docs/serve.md has it, for each thread, and what the models and threads need besides.
BOUND_MB = THREADS * (16 * MOST_WEIGHTS + 6 * MOST_ANSWER + 6 * MOST_PIXELS) / 1e6 + 100


def say(text):
    print(f"soak: {text}", flush=True)


def resident_mb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def predicted(model, lines, *options):
    done = subprocess.run([PROGRAM, "predict", str(model), *options], input="".join(line + "\n" for line in lines),
                          capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


def attention_of(model):
    done = subprocess.run([PROGRAM, "look", str(model), "ab", "--json", "-"], capture_output=True, check=True)
    return json.loads(done.stdout)["examples"][0]["maps"][-1]["name"]


class Soak:
    def __init__(self, server, inputs, pictures, expected):
        self.server, self.inputs, self.pictures = server, inputs, pictures
        self.greedy, self.beam, self.colours = expected
        self.large = [inline(png(4000, 4000, (0, 0, 0), interlaced)) for interlaced in (False, True)]
        self.attention = ""  # the name of one of `small`
        self.counts, self.seconds, self.problems = collections.Counter(), collections.Counter(), []
        self.lock = threading.Lock()
        self.over = threading.Event()

    def problem(self, what):
        with self.lock:
            self.problems.append(what)
            if len(self.problems) <= 10:
                say(f"PROBLEM: {what}")

    def check(self, condition, what):
        if not condition:
            self.problem(what)

    # ------------------------------------------------------------------------------------------------ good clients

    def ask(self, connection, path, body):
        connection.request("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()

    def predict(self, connection, rng):
        i, wide = rng.randrange(len(self.inputs)), rng.random() < 0.3
        status, body = self.ask(connection, "/v1/predict",
                                {"model": "small", "input": self.inputs[i], "beam": 4 if wide else 1})
        expected = (self.beam if wide else self.greedy)[i]
        self.check(status == 200 and json.loads(body)["output"] == expected, f"predict: {status} {body[:200]}")

    def several(self, connection, rng):
        chosen = [rng.randrange(len(self.inputs)) for _ in range(rng.randrange(1, 20))]
        status, body = self.ask(connection, "/v1/predict", {"model": "small", "inputs": [self.inputs[i] for i in chosen]})
        outputs = [p["output"] for p in json.loads(body).get("predictions", [])]
        self.check(status == 200 and outputs == [self.greedy[i] for i in chosen], f"several: {status} {body[:200]}")

    def score(self, connection, _):
        status, body = self.ask(connection, "/v1/score",
                                {"model": "small", "source": "ab", "target": "ba", "scores": True})
        self.check(status == 200 and json.loads(body)["token_count"] > 0, f"score: {status} {body[:200]}")

    def look(self, connection, rng):
        status, body = self.ask(connection, "/v1/attention", {"model": "small", "input": rng.choice(self.inputs), "beam": 3})
        self.check(status == 200 and json.loads(body)["examples"], f"attention: {status} {body[:200]}")

    def look_at_a_part(self, connection, rng):
        """Chosen attentions, heads and rows of long texts."""
        text = "".join(rng.choices("abcdefghij", k=rng.randrange(200, 900)))
        first = rng.randrange(1, 100)
        status, body = self.ask(connection, "/v1/attention", {
            "model": "small", "input": text, "target": text[::-1], "attentions": self.attention, "heads": [1],
            "rows": [first, first + 50]})
        found = json.loads(body)
        self.check(status == 200 and [m["rows"] for m in found["examples"][0]["maps"]] == [51],
                   f"a part of attention: {status} {body[:200]}")

    def look_at_too_much(self, connection, rng):
        text = "".join(rng.choices("abcdefghij", k=rng.randrange(1200, 4900)))
        status, body = self.ask(connection, "/v1/attention", {"model": "small", "input": text, "target": text})
        self.check(status == 413 and json.loads(body)["error"]["code"] in ("too_many_weights", "too_many_tokens"),
                   f"too much attention: {status} {body[:200]}")

    def picture(self, connection, rng):
        i, look = rng.randrange(len(self.pictures)), rng.random() < 0.2
        status, body = self.ask(connection, "/v1/attention" if look else "/v1/predict",
                                {"model": "colours", "input": self.pictures[i]})
        found = json.loads(body)
        said = found["examples"][0]["output"] if look and status == 200 else found.get("output")
        self.check(status == 200 and said == self.colours[i], f"picture: {status} {body[:200]}")

    def large_picture(self, connection, rng):
        large = rng.choice(self.large)
        status, body = self.ask(connection, "/v1/predict", {"model": "colours", "inputs": [f"{large}\twhich colour"] * 3})
        found = json.loads(body)
        self.check(status == 200 and all("pixels" in each["error"] for each in found["predictions"]),
                   f"large picture: {status} {body[:200]}")

    def complete(self, connection, rng):
        stream = rng.random() < 0.5
        status, body = self.ask(connection, "/v1/completions", {"model": "story", "prompt": "the cat", "stream": stream,
                                                                "max_tokens": rng.choice([5, 50, 2000])})
        self.check(status == 200 and (body.endswith(b"data: [DONE]\n\n") if stream else json.loads(body)["choices"]),
                   f"completions: {status} {body[-200:]}")

    def facts(self, connection, rng):
        connection.request("GET", rng.choice(["/v1/models", "/metrics", "/healthz", "/openapi.json", "/v1/training"]))
        answer = connection.getresponse()
        self.check(answer.status == 200 and answer.read(), f"facts: {answer.status}")

    def mistake(self, connection, rng):
        body, expected = rng.choice([({"model": "small"}, 400), ({"model": "x", "input": "a"}, 404), ([], 400),
                                     ({"model": "small", "input": "a", "beam": 99}, 400),
                                     ({"model": "small", "input": "a" * 6000}, 413)])
        status, said = self.ask(connection, "/v1/predict", body)
        self.check(status == expected and "error" in json.loads(said), f"mistake: {status} {said[:200]}")

    # ------------------------------------------------------------------------------------------- clients that misbehave

    def leave(self, _, rng):
        """In the middle of a request, of an answer, or of a stream."""
        question = json.dumps({"model": "story", "prompt": "the", "max_tokens": 20000, "temperature": 0,
                               "stream": True}).encode()
        request = (b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                   + str(len(question)).encode() + b"\r\n\r\n" + question)
        with contextlib.suppress(OSError), self.server.connect(timeout=5) as client:
            sent = rng.choice([10, 60, len(request) - 1, len(request)])
            client.sendall(request[:sent])
            if sent == len(request) and rng.random() < 0.5:
                client.recv(100)
            if rng.random() < 0.5:  # a reset instead of an orderly end
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def noise(self, _, rng):
        start = rng.choice([b"", b"GET / HTTP/1.1\r\n", b"POST /v1/predict HTTP/1.1\r\nContent-Length: 7\r\n\r\n",
                            b"POST /v1/predict HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"])
        with contextlib.suppress(OSError), self.server.connect(timeout=5) as client:
            client.sendall(start + rng.randbytes(rng.randrange(1, 400)))
            client.shutdown(socket.SHUT_WR)
            everything(client)

    def crawl(self, _, __):
        with contextlib.suppress(OSError), self.server.connect(timeout=5) as client:
            for byte in b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n":
                client.sendall(bytes([byte]))
                time.sleep(0.005)
            self.check(b"200 OK" in client.recv(1000), "a slow request that comes in time is answered")

    def client(self, number):
        rng = random.Random(number)
        kinds = [(self.predict, 40), (self.several, 10), (self.score, 5), (self.look, 5),
                 (self.look_at_a_part, 4), (self.look_at_too_much, 4), (self.picture, 8), (self.large_picture, 3),
                 (self.complete, 8), (self.facts, 5),
                 (self.mistake, 8), (self.leave, 6), (self.noise, 6), (self.crawl, 2)]
        connection = None
        while not self.over.is_set():
            if connection is None or rng.random() < 0.02:
                connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
            work, = rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
            begin = time.perf_counter()
            try:
                work(connection, rng)
            except (OSError, http.client.HTTPException) as lost:
                self.problem(f"{work.__name__}: lost: {lost!r}")
                connection = None
            with self.lock:
                self.counts[work.__name__] += 1
                self.seconds[work.__name__] += time.perf_counter() - begin

    # ------------------------------------------------------------------------------------------------------------ phases

    def idle(self, count):
        """Connections that say nothing, and a client among them."""
        before = resident_mb(self.server.process.pid)
        clients = [self.server.connect() for _ in range(count)]
        until(lambda: metrics(self.server)["heed_connections"] >= count)
        after, times = resident_mb(self.server.process.pid), []
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        for _ in range(300):
            begin = time.perf_counter()
            self.predict(connection, random)
            times.append(1e3 * (time.perf_counter() - begin))
        for client in random.sample(clients, 50):  # each of them is still served
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.check(b"200 OK" in client.recv(1000), "a connection that was idle is served")
        for client in clients:
            client.close()
        until(lambda: metrics(self.server)["heed_connections"] < 10, seconds=60)
        say(f"{count} idle connections: {(after - before) * 1024 / count:.1f} KB each; answers beside them took "
            f"p50 {statistics.median(times):.1f} ms, max {max(times):.1f} ms")

    def mixed(self, seconds):
        clients = [threading.Thread(target=self.client, args=(n,)) for n in range(CLIENTS)]
        for client in clients:
            client.start()
        begin, reloaded, memory = time.monotonic(), 0, []
        while (passed := time.monotonic() - begin) < seconds and self.server.process.poll() is None:
            memory.append(resident_mb(self.server.process.pid))
            if passed > (reloaded + 1) * RELOAD_SECONDS:
                self.server.send(signal.SIGHUP)
                reloaded += 1
            if len(memory) % 60 == 0:
                say(f"{passed:.0f} s, {memory[-1]:.0f} MB, {sum(self.counts.values())} requests")
            time.sleep(MEMORY_SECONDS)
        self.over.set()
        for client in clients:
            client.join()
        quarter = len(memory) // 4
        early, late = statistics.median(memory[quarter:2 * quarter]), statistics.median(memory[-quarter:])
        kinds = ", ".join(f"{count} {kind} ({1e3 * self.seconds[kind] / count:.0f} ms)" for kind, count in self.counts.items())
        say(f"{sum(self.counts.values())} requests: {kinds}; {reloaded} reloads; "
            f"memory {early:.1f} MB, later {late:.1f} MB, at most {max(memory):.1f} MB of {BOUND_MB:.0f} MB")
        self.check(max(memory) <= BOUND_MB, f"{max(memory):.1f} MB are more than the bound of {BOUND_MB:.1f} MB")
        self.check(late - early <= GROWTH_MB, f"the memory grew from {early:.1f} MB to {late:.1f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--idle", type=int, default=10000)
    options = parser.parse_args()
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    idle = min(options.idle, files - 1000)
    if idle < options.idle:
        say(f"only {idle} idle connections: a process may have {files} files")
    # What AddressSanitizer keeps of freed memory must be full before the memory is compared.
    os.environ.setdefault("ASAN_OPTIONS", "quarantine_size_mb=8")
    with tempfile.TemporaryDirectory(prefix="heed-soak-") as temporary:
        folder = pathlib.Path(temporary)
        small, story, colours = train_small(folder / "small"), train_story(folder), train_colours(folder / "colours")
        rng = random.Random(1)
        inputs = ["".join(rng.choices("abcdefghij", k=rng.randrange(1, 15))) for _ in range(200)]
        pictures = [inline(png(rng.randrange(1, 600), rng.randrange(1, 600), rng.choices(range(256), k=3), i % 2 == 0)) +
                    "\twhich colour" for i in range(40)]
        with open(folder / "stderr", "w+", encoding="utf-8") as errors:
            server = Server(small, story, colours, "--idle-timeout", "3600", "--queue", "4096", "--log", folder / "log",
                            "--threads", THREADS, "--max-weights", MOST_WEIGHTS, "--max-answer", MOST_ANSWER,
                            "--max-pixels", MOST_PIXELS, stderr=errors)
            soak = Soak(server, inputs, pictures, (predicted(small, inputs), predicted(small, inputs, "--beam", "4"),
                                                   predicted(colours, pictures)))
            soak.attention = attention_of(small)
            soak.idle(idle)
            soak.mixed(options.seconds)
            server.send(signal.SIGTERM)
            soak.check(server.process.wait(timeout=60) == 0, f"it ended with {server.process.returncode}")
            errors.seek(0)
            said = errors.read()
        soak.check("Sanitizer" not in said and "runtime error" not in said, f"a sanitizer said: {said[:3000]}")
        logged = sum(1 for line in open(folder / "log", encoding="utf-8") if json.loads(line)["status"] >= 500)
        soak.check(logged == 0, f"{logged} answers of the 500s in the log")
    if soak.problems:
        sys.exit(f"soak: {len(soak.problems)} problems")
    say("all is well")


if __name__ == "__main__":
    main()
