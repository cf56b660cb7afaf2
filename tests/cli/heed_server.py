"""heed serve as a process, and small HTTP clients for it that need nothing but Python."""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time

from heed_program import PROGRAM

SERVING = re.compile(r"heed: serving (.+) on (http://([\d.]+|\[[\d:a-f]+\]):(\d+)/)\n")


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        """Of an error, whose form is checked too."""
        assert set(self.json) == {"error"} and set(self.json["error"]) == {"code", "message", "type"}, self.text
        assert self.headers["Content-Type"] == "application/json"
        assert self.json["error"]["type"] == ("server_error" if self.status >= 500 else "invalid_request_error")
        assert len(self.json["error"]["message"]) > 10
        return self.json["error"]["code"]

    @property
    def events(self):
        """What each event of a stream holds."""
        assert self.headers["Content-Type"] == "text/event-stream"
        parts = self.text.split("\n\n")
        assert parts.pop() == ""
        assert all(part.startswith("data: ") and "\n" not in part for part in parts), parts
        return [part.removeprefix("data: ") for part in parts]


class Server:
    def __init__(self, *arguments, stderr=subprocess.PIPE, environment=None):
        self.process = subprocess.Popen([PROGRAM, "serve", *map(str, arguments), "--port", "0"], stdout=subprocess.PIPE,
                                        stderr=stderr, stdin=subprocess.DEVNULL, text=True,
                                        env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline()
        found = SERVING.fullmatch(line)
        assert found, (line, self.process.stderr and self.process.stderr.read())
        self.names, self.port = found[1].split(", "), int(found[4])

    # ---------------------------------------------------------------------------------------------------------- asking

    def connect(self, timeout=20):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def ask(self, method, path, body=None, timeout=20, **headers):
        """`body`: bytes, or what becomes JSON. Headers: X_Request_Id="a"."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            headers = {"Content-Type": "application/json", **headers}
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, body, **headers):
        return self.ask("POST", path, body, **headers)

    def raw(self, *pieces, pause=0.0, half_close=False):
        """All that comes back for these bytes until the server closes the connection, or says nothing for a while."""
        with self.connect(timeout=3) as client:
            with contextlib.suppress(ConnectionError):  # it may have seen enough
                for piece in pieces:
                    client.sendall(piece)
                    time.sleep(pause)
                if half_close:
                    client.shutdown(socket.SHUT_WR)
            return everything(client)

    # ---------------------------------------------------------------------------------------------------------- ending

    def send(self, which):
        self.process.send_signal(which)

    def stop(self, which=signal.SIGTERM):
        """Standard error of a server that must end well."""
        if self.process.poll() is None:
            self.send(which)
        _, said = self.process.communicate(timeout=40)
        assert self.process.returncode == 0, (self.process.returncode, said)
        return said

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.stop()
        else:
            self.process.kill()
            self.process.communicate()


def everything(client):
    """What arrives until the other side closes, or is silent."""
    said = b""
    with contextlib.suppress(socket.timeout, ConnectionError):
        while part := client.recv(65536):
            said += part
    return said


def answers_in(said):
    """The answers, with a Content-Length each, that stand one after the other in these bytes."""
    found = []
    while said:
        head, _, said = said.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        headers = http.client.HTTPMessage()
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            headers[name] = value
        status = int(lines[0].split()[1])
        length = int(headers.get("Content-Length", 0))
        found.append(Answer(status, headers, said[:length]))
        said = said[length:]
    return found


def until(condition, seconds=15.0):
    """Waits for something that another process does."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)
    return found


def metrics(server):
    """{name with labels: value}"""
    found = {}
    for line in server.get("/metrics").text.splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            found[name] = float(value)
    return found
