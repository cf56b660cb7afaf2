"""Processes that are timed in turns, and how busy the machine was meanwhile."""

import json
import os
import shutil
import subprocess
import sys
import time


def say(text):
    print(text, file=sys.stderr, flush=True)


# HEED_ISA forces an instruction set on heed. The same holds then for what others take it from: oneDNN (which is the
# yardstick, and below heed and PyTorch), PyTorch's own kernels, MKL, OpenBLAS, CTranslate2.
HELD_TO = {
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "DNNL_MAX_CPU_ISA": "AVX2",
             "MKL_ENABLE_INSTRUCTIONS": "AVX2", "OPENBLAS_CORETYPE": "Haswell", "CT2_FORCE_CPU_ISA": "AVX2"},
    "sse4": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41", "DNNL_MAX_CPU_ISA": "SSE41",
             "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "OPENBLAS_CORETYPE": "Nehalem", "CT2_FORCE_CPU_ISA": "GENERIC"},
}


def forced_isa():
    """The instruction set that HEED_ISA holds everybody to; empty where each takes its best."""
    forced = os.environ.get("HEED_ISA", "")
    return forced if forced in HELD_TO else ""


def machine():
    """{"cpu", "cores", "HEED_ISA"}: what a figure means nothing without."""
    model = "unknown CPU"
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                model = " ".join(line.partition(":")[2].split())
                break
    return {"cpu": model, "cores": len(os.sched_getaffinity(0)), "HEED_ISA": os.environ.get("HEED_ISA", "")}


class Contestant:
    """A process that answers JSON lines."""

    def __init__(self, command, **options):
        pipe = subprocess.PIPE
        environment = {**os.environ, **HELD_TO.get(forced_isa(), {})}
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment, **options)

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


def peers_python():
    """The Python that has the peers after `make bench-peers` (bench/install_peers.sh), or None."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    python = os.path.join(os.environ.get("HEED_PEERS") or os.path.join(cache, "heed", "peers"), "bin", "python3")
    return python if os.access(python, os.X_OK) else None


def pythons():
    """Where a peer may be installed, the likeliest first: HEED_BENCH_PYTHON names them all, else the Python of
    `make bench-peers`, then every python3 of the path.

    Told apart by their folders, since that of a virtual environment is a link to the one that it was made with.
    """
    override = os.environ.get("HEED_BENCH_PYTHON")
    if override:
        return override.split(os.pathsep)
    found = {os.path.realpath(os.path.dirname(python)): python for python in (peers_python(), sys.executable) if python}
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


def start_peer(script, name):
    """{name: Contestant} of the first Python that can import what the script needs; with HEED_BENCH_PYTHON, of every
    version that one of those has: "NAME", then "NAME VERSION"."""
    peers, reason = {}, "not installed (make bench-peers)"
    for python in pythons():
        peer = Contestant([python, "-B", str(script)], stderr=subprocess.DEVNULL)
        hello = peer.ask(op="hello")
        if "error" in hello and not hello["error"].startswith("ended"):  # it is there, and says why it cannot take part
            reason = hello["error"]
        if "error" in hello or hello["version"] in [p.about["version"] for p in peers.values()]:
            peer.close()
            continue
        peer.about = hello
        label = f"{name} {hello['version']}" if peers else name
        details = "".join(f", {key} {value}" for key, value in hello.items() if key not in ("name", "version"))
        say(f"peer {label}: version {hello['version']} of {python}{details}")
        peers[label] = peer
        if not os.environ.get("HEED_BENCH_PYTHON"):
            break
    if not peers:
        say(f"peer {name}: left out: {reason}")
    return peers


def versions(peers):
    """{name: version}, for the record."""
    return {label: peer.about["version"] for label, peer in peers.items()}
