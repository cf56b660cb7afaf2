#!/usr/bin/env python3
"""Many clients of `heed serve`, and of CTranslate2 behind FastAPI, in turns: requests/s and how long an answer takes.

Prints a table and writes build/bench-serve.json: a list of rows {"case", "clients", "requests_per_s", "p50_ms", "p99_ms",
"lost", "wrong", "peers": {name: requests_per_s}, ...}.
"""

import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True  # a benchmark leaves nothing behind in the source tree
from contestant import Contestant, OtherLoad, ask, machine, say, start_peer, versions  # noqa: E402
from predict import AGREE, CASES, LONGEST, model_options, prepare  # noqa: E402
import report  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CLIENTS = (1, 8, 64)
WARM_UP = 1.0  # seconds before anything is counted
SHORT = ["5 mars 2024", "12. September 1984", "March 3, 1999", "7 de julio de 2011", "2 Feb 1970"]

NAMES = {"ctranslate2": "CTranslate2, FastAPI", "ctranslate2_batched": "the same with batches"}

# (case, clients) -> (must, aim), as in report.py. Nothing may be lost or wrong anywhere.
WHOLE = {"lost": "<= 0", "wrong": "<= 0"}
GOALS = {
    ("greedy", 64): ({"vs_ctranslate2": ">= 3"}, {"vs_ctranslate2": ">= 6"}),
    ("beam_5", 64): ({"vs_ctranslate2": ">= 3"}, {"vs_ctranslate2": ">= 6"}),
    ("picture", 1): ({"p99_ms": "<= 300"}, {}),
}


class Server:
    """heed serve, as a process that listens."""

    def __init__(self, program, model, *options):
        self.process = subprocess.Popen([program, "serve", model, "--port", "0", *options], stdout=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        if not found:
            sys.exit(f"heed serve did not start: it said '{line.strip()}'")
        self.port = int(found[1])

    def close(self):
        self.process.terminate()
        if self.process.wait(timeout=40) != 0:
            sys.exit("heed serve did not end well")


class PeerServer:
    """What OtherLoad needs of a process that a peer started."""

    class Process:
        def __init__(self, pid):
            self.pid = pid

    def __init__(self, opened):
        self.process, self.port = PeerServer.Process(opened["pid"]), opened["port"]


class Way:
    """How one server is asked: where, with which body, and what it must answer."""

    def __init__(self, port, path, body):
        self.port, self.path, self.body, self.expected = port, path, body, ""

    def outputs(self, sources, beam, clients=8):
        """The answer to each source, once."""
        said, body = [None] * len(sources), self.body_for(beam)

        def work(first):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            for i in range(first, len(sources), clients):
                connection.request("POST", self.path, body.replace("@", json.dumps(sources[i])).encode(),
                                   {"Content-Type": "application/json"})
                answer = connection.getresponse()
                said[i] = json.loads(answer.read()).get("output", f"status {answer.status}")
            connection.close()

        threads = [threading.Thread(target=work, args=(n,)) for n in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return said

    def body_for(self, beam):
        return self.body.replace("BEAM", str(beam))

    def run(self, load, inputs, beam, clients, seconds):
        return ask(load, op="run", port=self.port, path=self.path, body=self.body_for(beam), inputs=inputs,
                   expected=self.expected, connections=clients, seconds=seconds, warm_up=WARM_UP)


def write_lines(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


# The peer's server in its minimal form, one call of the translator for each request, and with batches.
PEER_PATHS = {"": "/translate", "_batched": "/translate_batched"}


def start_ways(server, opened):
    """{name: Way}"""
    ways = {"heed": Way(server.port, "/v1/predict", f'{{"input": @, "beam": BEAM, "max_length": {LONGEST}}}')}
    for label, peer in opened.items():
        for suffix, path in PEER_PATHS.items():
            ways[label + suffix] = Way(peer.port, path, '{"text": @, "beam_size": BEAM}')
    return ways


def check_outputs(ways, case, beam, options, sources, folder):
    """What each must answer: heed what `heed predict` answers, a peer what it said itself, which must be nearly the same.

    -> the ways that take part, and {way: share of outputs that are heed's}
    """
    program = str(pathlib.Path(options.build) / "cli" / "heed")
    predicted = subprocess.run([program, "predict", options.model, options.sources, "--beam", str(beam), "--max-length",
                                str(LONGEST)], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[:-1]
    taking_part, same = {}, {}
    for name, way in ways.items():
        said = way.outputs(sources, beam)
        same[name] = sum(a == b for a, b in zip(predicted, said)) / len(sources)
        say(f"{case}: {name} has the outputs of heed predict for {100 * same[name]:.1f} % of the sentences")
        if name == "heed" and same[name] < 1:
            wrong = next(i for i in range(len(sources)) if said[i] != predicted[i])
            sys.exit(f"heed serve answers '{said[wrong]}' where heed predict says '{predicted[wrong]}'")
        # A beam may end by another rule in a peer, so only greedy outputs must be the same.
        if beam == 1 and same[name] < AGREE:
            say(f"{name} is not timed: it is another model")
            continue
        way.expected = write_lines(folder / f"expected-{len(taking_part)}.txt", said)
        taking_part[name] = way
    return taking_part, same


KEPT = ("requests_per_s", "p50_ms", "p90_ms", "p99_ms", "max_ms")


def row_of(case, clients, samples, same, loads):
    """`samples`: {way: [replies of heed-bench-serve]}. The best round counts; nothing may be lost in any."""
    best = {name: max(replies, key=lambda reply: reply["requests_per_s"]) for name, replies in samples.items()}
    ours = best.pop("heed")
    row = {"case": case, "clients": clients, **{k: ours[k] for k in KEPT},
           **{k: sum(reply[k] for reply in samples["heed"]) for k in ("sent", "answered", "lost", "wrong")},
           "peers": {name: reply["requests_per_s"] for name, reply in best.items()},
           "peer_samples": {name: {k: reply[k] for k in (*KEPT, "lost", "wrong")} for name, reply in best.items()},
           "same_outputs": same, "rounds": len(loads), "other_load": sum(loads) / len(loads)}
    for name, speed in row["peers"].items():
        row[f"vs_{name}"] = row["requests_per_s"] / speed
    return row


def run_cases(load, server, opened, options, folder):
    sources = pathlib.Path(options.sources).read_text(encoding="utf-8").split("\n")[:-1]
    inputs = write_lines(folder / "inputs.txt", sources)
    ways, rows = start_ways(server, opened), []
    for case in options.cases:
        ways, same = check_outputs(ways, case, CASES[case], options, sources, folder)
        others = OtherLoad([load, server, *opened.values()])
        samples, loads = {}, {}
        for number in range(options.rounds):
            for clients in options.clients:
                others.since_last()
                for name in list(ways) if number % 2 == 0 else reversed(ways):
                    reply = ways[name].run(load, inputs, CASES[case], clients, options.seconds)
                    say(f"{case}, {clients} clients, {name}: {reply['requests_per_s']:.0f} requests/s, "
                        f"p50 {reply['p50_ms']:.1f} ms, p99 {reply['p99_ms']:.1f} ms, {reply['lost']} lost, "
                        f"{reply['wrong']} wrong {reply.get('first_wrong', '')}")
                    samples.setdefault(clients, {}).setdefault(name, []).append(reply)
                loads.setdefault(clients, []).append(others.since_last())
        rows += [row_of(case, clients, samples[clients], same, loads[clients]) for clients in options.clients]
    return rows


def picture_row(load, program, demo, folder, seconds):
    """From a request for a short text to the document with all that the model attended to."""
    server = Server(program, demo)
    way = Way(server.port, "/v1/attention", '{"input": @, "beam": BEAM}')
    reply = way.run(load, write_lines(folder / "short.txt", SHORT), 1, 1, seconds)
    server.close()
    return {"case": "picture", "clients": 1, "peers": {}, **reply}


def table(rows):
    lines = ["| case | clients | requests/s | p50 ms | p99 ms | lost | wrong | against peers | what it must reach |",
             "|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        against = ", ".join(f"{row[f'vs_{n}']:.2f}x ({speed:,.0f}; p50 {row['peer_samples'][n]['p50_ms']:.1f}, p99 "
                            f"{row['peer_samples'][n]['p99_ms']:.1f} ms; {n})" for n, speed in row["peers"].items())
        goal = ", ".join(f"{field} {bound}" for field, bound in row["must"].items() if field not in WHOLE)
        lines.append(f"| {row['case']} | {row['clients']} | {row['requests_per_s']:,.0f} | {row['p50_ms']:.1f} | "
                     f"{row['p99_ms']:.1f} | {row['lost']} | {row['wrong']} | {against} | {goal} {report.verdict(row)} |")
    return "\n".join(lines)


def document_table(rows):
    """For docs/performance.md."""
    peers = list(dict.fromkeys(name for row in rows for name in row["peers"]))
    head = ["case", "clients", "requests/s", "p50 ms", "p99 ms", "lost"]
    head += [cell for name in peers for cell in (NAMES.get(name, name), "p50 ms", "p99 ms", "ratio")]
    lines = []
    for row in rows:
        line = [row["case"], str(row["clients"]), f"{row['requests_per_s']:,.0f}", f"{row['p50_ms']:.1f}",
                f"{row['p99_ms']:.1f}", str(row["lost"])]
        for name in peers:
            sample = row.get("peer_samples", {}).get(name)
            line += [f"{sample['requests_per_s']:,.0f}", f"{sample['p50_ms']:.1f}", f"{sample['p99_ms']:.1f}",
                     f"{row['vs_' + name]:.2f}x"] if sample else [""] * 4
        lines.append(line)
    return report.markdown(head, lines)


def parse():
    parser = model_options("bench-serve")
    parser.description = __doc__.splitlines()[0]
    parser.add_argument("--demo", help="folder of heed demo's model: how long a picture of its attention takes")
    parser.add_argument("--clients", help="numbers of clients (default: 1,8,64)")
    parser.add_argument("--cases", help=f"which of {','.join(CASES)} (default: all)")
    parser.add_argument("--seconds", type=float, default=10, help="of each sample (default: 10)")
    parser.add_argument("--rounds", type=int, default=2, help="of interleaved samples; the best counts (default: 2)")
    options = parser.parse_args()
    options.clients = [int(n) for n in options.clients.split(",")] if options.clients else list(CLIENTS)
    options.cases = options.cases.split(",") if options.cases else list(CASES)
    options.json = options.json or str(pathlib.Path(options.build) / "bench-serve.json")
    return options


def main():
    options = parse()
    prepare(options)
    build = pathlib.Path(options.build)
    program = str(build / "cli" / "heed")
    load = Contestant([str(build / "bench" / "heed-bench-serve")])
    isa, here = ask(load, op="hello")["isa"], machine()
    say(f"heed: instruction set {isa} on {here['cpu']}; load before the start {os.getloadavg()[0]:.2f}")
    peers = {} if options.no_peers else start_peer(HERE / "peers" / "ctranslate2_serve.py", "ctranslate2")
    with tempfile.TemporaryDirectory(prefix="bench-serve-", dir=build.resolve()) as temporary:
        folder = pathlib.Path(temporary)
        writer = Contestant([str(build / "bench" / "heed-bench-predict")])
        ask(writer, op="open", model=options.model, sources=options.sources, folder=temporary)
        writer.close()
        opened = {label: PeerServer(ask(peer, op="open", folder=temporary, threads=here["cores"]))
                  for label, peer in peers.items()}
        server = Server(program, options.model)
        rows = run_cases(load, server, opened, options, folder)
        server.close()
        for peer in peers.values():
            ask(peer, op="stop")
            peer.close()
        if options.demo:
            rows.append(picture_row(load, program, options.demo, folder, options.seconds))
    load.close()
    for row in rows:
        row.update(isa=isa, **here, versions=versions(peers))
        must, aim = GOALS.get((row["case"], row["clients"]), ({}, {}))
        report.judge(row, ({**WHOLE, **must}, aim))
    report.publish(options, "bench-serve", rows, report.conditions(here, isa, versions(peers)),
                   (table(rows), document_table(rows)))


if __name__ == "__main__":
    main()
