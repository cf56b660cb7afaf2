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
    """Every python3 there is, or those that HEED_BENCH_PYTHON names: a peer may be installed for another than the first.

    Told apart by their folders, since that of a virtual environment is a link to the one that it was made with.
    """
    override = os.environ.get("HEED_BENCH_PYTHON")
    if override:
        return override.split(os.pathsep)
    found = {os.path.realpath(os.path.dirname(sys.executable)): sys.executable}
    for folder in os.environ.get("PATH", "").split(os.pathsep) + os.defpath.split(os.pathsep):
        candidate = shutil.which("python3", path=folder) if folder else None
        if candidate:
            found.setdefault(os.path.realpath(folder), candidate)
    return list(found.values())


def ask(contestant, **request):
    """A reply that must not be an error."""
    reply = contestant.ask(**request)
    if "error" in reply:
        sys.exit(f"{request['op']}: {reply['error']}")
    return reply


def start_versions(script, package, first=None):
    """{name: Contestant}: one for every version of a package that some Python here has, "PACKAGE VERSION" or `first`."""
    peers = {}
    for python in pythons():
        peer = Contestant([python, "-B", str(script)], stderr=subprocess.DEVNULL)
        hello = peer.ask(op="hello")
        if "error" in hello or hello["version"] in [p.version for p in peers.values()]:
            peer.close()
            continue
        peer.version = hello["version"]
        name = first if first and not peers else f"{package} {peer.version}"
        say(f"peer {name}: version {peer.version} of {python}")
        peers[name] = peer
    return peers


def start_torch(script):
    """{name: Contestant}: one for every version of PyTorch; the first is "torch"."""
    peers = start_versions(script, "torch", first="torch")
    if not peers:
        say("no peer torch: PyTorch is not installed")
    return peers


def start_ctranslate2(script):
    """{name: Contestant}: one for every version of CTranslate2."""
    peers = start_versions(script, "ctranslate2")
    if not peers:
        say("no peer ctranslate2: to have it, python3 -m venv FOLDER && FOLDER/bin/pip install ctranslate2, "
            "and then PATH=FOLDER/bin:$PATH")
    return peers
