"""Processes that are timed in turns, and how busy the machine was meanwhile."""

import json
import os
import shutil
import subprocess
import sys
import time


def say(text):
    print(text, file=sys.stderr, flush=True)


class Contestant:
    """A process that answers JSON lines."""

    def __init__(self, command, **options):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, **options)

    def ask(self, **request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line else {"error": f"ended with exit code {self.process.wait()}"}

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()


class OtherLoad:
    """How many cores processes other than the contestants keep busy, the host's other guests included."""

    def __init__(self, contestants):
        self.pids = [contestant.process.pid for contestant in contestants] + [os.getpid()]
        self.last = self.read()

    def read(self):
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, _, _, interrupt, soft, steal = map(int, file.readline().split()[1:9])
        busy = user + nice + system + interrupt + soft + steal
        for pid in self.pids:
            try:
                with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                    busy -= sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
            except OSError:
                pass  # it has ended; its share then counts as others'
        return time.monotonic(), busy / os.sysconf("SC_CLK_TCK")

    def since_last(self):
        before, self.last = self.last, self.read()
        return max(0.0, (self.last[1] - before[1]) / max(1e-3, self.last[0] - before[0]))


def pythons():
    """Every python3 there is: a peer may be installed for another one than the first."""
    found = [sys.executable]
    for folder in os.environ.get("PATH", "").split(os.pathsep) + os.defpath.split(os.pathsep):
        candidate = shutil.which("python3", path=folder) if folder else None
        if candidate and os.path.realpath(candidate) not in map(os.path.realpath, found):
            found.append(candidate)
    return found


def ask(contestant, **request):
    """A reply that must not be an error."""
    reply = contestant.ask(**request)
    if "error" in reply:
        sys.exit(f"{request['op']}: {reply['error']}")
    return reply


def start_torch(script):
    """{name: Contestant}: one for every version of PyTorch that some Python here has; the first is "torch"."""
    peers = {}
    override = os.environ.get("HEED_BENCH_PYTHON")
    for python in override.split(os.pathsep) if override else pythons():
        peer = Contestant([python, "-B", str(script)], stderr=subprocess.DEVNULL)
        hello = peer.ask(op="hello")
        if "error" in hello or hello["version"] in [p.version for p in peers.values()]:
            peer.close()
            continue
        peer.version = hello["version"]
        name = "torch" if not peers else f"torch {peer.version}"
        say(f"peer {name}: PyTorch {peer.version}")
        peers[name] = peer
    if not peers:
        say("no peer: PyTorch is not installed")
    return peers
