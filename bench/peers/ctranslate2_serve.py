#!/usr/bin/env python3
"""Serves heed's Transformer with CTranslate2 behind FastAPI and uvicorn (ctranslate2_app.py): the same weights in float32.

Requests are JSON lines on standard input, replies on standard output:

    {"op": "open", "folder": FOLDER, "threads": N}    what heed-bench-predict wrote -> {"port": N, "pid": N}
    {"op": "stop"}

The model must write words: the server gets a text and splits it at its blanks.
"""
import os
import pathlib
import socket
import subprocess
import sys
import time

import ctranslate2
import fastapi
import uvicorn

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import ctranslate2_search  # noqa: E402
import heed_model  # noqa: E402

START_SECONDS = 60


def free_port():
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return some.getsockname()[1]


class Peer:
    def __init__(self):
        self.server = None

    def hello(self):
        return {"version": ctranslate2.__version__, "fastapi": fastapi.__version__, "uvicorn": uvicorn.__version__}

    def open(self, folder, threads):
        folder = pathlib.Path(folder)
        options, _, weights = heed_model.read_search(folder)
        words = [heed_model.read_words(folder / f"{side}.vocab") for side in ("source", "target")]
        model = folder / "ctranslate2_words"
        ctranslate2_search.convert(options, weights, model, *words)
        port = free_port()
        environment = {**os.environ, "PEER_MODEL": str(model), "PEER_THREADS": str(threads),
                       "PEER_LONGEST": str(options["longest"]), "PYTHONDONTWRITEBYTECODE": "1"}
        self.server = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", "ctranslate2_app:app", "--app-dir", str(HERE), "--host", "127.0.0.1",
             "--port", str(port), "--log-level", "warning", "--no-access-log"],
            env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr)
        self.wait_for(port)
        return {"port": port, "pid": self.server.pid}

    def wait_for(self, port):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.server.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("uvicorn does not listen")

    def stop(self):
        if self.server:
            self.server.terminate()
            self.server.wait(timeout=20)
            self.server = None
        return {}


if __name__ == "__main__":
    peer = Peer()
    try:
        sys.exit(heed_model.serve(peer))
    finally:
        peer.stop()
