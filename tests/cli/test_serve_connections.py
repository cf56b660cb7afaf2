"""heed serve: connections that are slow, half closed, full or old, and signals while requests run."""
import concurrent.futures
import json
import os
import shutil
import signal
import socket
import threading
import time

import pytest
from heed_program import train_small
from heed_server import Server, answers_in, everything, metrics, until
from story_model import long_question, tokens_for, train_story

BODY = json.dumps({"model": "small", "input": "a b c"}).encode()
HEAD = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
WHOLE = HEAD + b"Content-Length: " + str(len(BODY)).encode() + b"\r\n\r\n" + BODY
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.fixture(name="story", scope="module")
def story_model(tmp_path_factory):
    return train_story(tmp_path_factory.mktemp("texts"))


@pytest.fixture(name="server", scope="module")
def served(model, story):
    with Server(model, story, "--threads", "2", "--read-timeout", "1", "--idle-timeout", "1.5") as server:
        yield server


# --------------------------------------------------------------------------------------------------- ways to say it

def test_a_connection_is_kept(server):
    with server.connect() as client:
        for _ in range(3):
            client.sendall(WHOLE)
            said = b""
            while not said.endswith(b"}\n"):
                said += client.recv(65536)
            answer = answers_in(said)[0]
            assert answer.status == 200 and answer.headers["Connection"] == "keep-alive"


def test_pipelining_answers_in_order(server):
    said = server.raw(HEALTH + WHOLE + b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n" + WHOLE + LAST)
    assert [answer.status for answer in answers_in(said)] == [200, 200, 404, 200, 200]


def test_a_thousand_requests_at_once(server):
    with server.connect() as client:
        sender = threading.Thread(target=client.sendall, args=(HEALTH * 1000,))
        sender.start()
        said = b""
        while said.count(b'{"status":"ok"}') < 1000:
            part = client.recv(65536)
            assert part, "the connection was closed too early"
            said += part
        sender.join()


def test_bodies_in_chunks(server):
    cut = [BODY[:5], BODY[5:6], BODY[6:]]
    body = b"".join(b"%x;name=value\r\n%s\r\n" % (len(part), part) for part in cut) + b"0\r\nTrailer: x\r\n\r\n"
    said = server.raw(HEAD + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + body)
    assert answers_in(said)[0].json["model"] == "small"


def test_chunks_have_the_limits_of_bodies(server):
    said = server.raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"10000\r\n" + b"x" * 65536 + b"\r\n",
                      *[b"10000\r\n" + b"x" * 65536 + b"\r\n"] * 20)
    assert [(a.status, a.code) for a in answers_in(said)] == [(413, "body_too_large")]


@pytest.mark.parametrize("start, more", [(b"0\r\n", b"A: b\r\n"), (b"4;a=", b"x"), (b"", b"0")])
def test_what_stands_around_chunks_has_a_limit(server, start, more):
    """Trailers, extensions and sizes without an end must not fill the memory."""
    said = server.raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + start, *[more * 10000] * 20)
    assert [a.status for a in answers_in(said)] in ([431], [400])


def test_trailers_are_not_headers(server):
    trailers = b"0\r\nContent-Type: application/json\r\nX-Request-Id: late\r\nConnection: close\r\n\r\n"
    head = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    said = server.raw(head + b"%x\r\n%s\r\n" % (len(BODY), BODY) + trailers + LAST)
    answers = answers_in(said)
    assert [answer.status for answer in answers] == [415, 200] and answers[0].headers["X-Request-Id"] != "late"


def test_a_request_byte_by_byte(server):
    said = server.raw(*[bytes([byte]) for byte in WHOLE + LAST], pause=0.001)
    assert [answer.status for answer in answers_in(said)] == [200, 200]


def test_expect_continue(server):
    with server.connect(timeout=3) as client:
        client.sendall(HEAD + b"Expect: 100-continue\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(BODY))
        assert client.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(BODY)
        assert answers_in(everything(client))[0].status == 200


def test_a_body_that_is_too_large_is_not_asked_for(server):
    said = server.raw(HEAD + b"Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n")
    assert [a.status for a in answers_in(said)] == [413]


def test_other_expectations(server):
    assert [a.status for a in answers_in(server.raw(HEALTH[:-2] + b"Expect: 200-miracle\r\n\r\n"))] == [417]


def test_old_http(server):
    said = server.raw(b"GET /healthz HTTP/1.0\r\n\r\n")
    assert answers_in(said)[0].headers["Connection"] == "close"
    stream = BODY[:-1] + b', "stream": true}'
    said = server.raw(HEAD.replace(b"1.1", b"1.0") + b"Content-Length: %d\r\n\r\n" % len(stream) + stream)
    head, _, body = said.partition(b"\r\n\r\n")
    assert b"chunked" not in head and body.endswith(b"data: [DONE]\n\n")


def test_a_client_that_has_said_all(server):
    said = server.raw(WHOLE, half_close=True)
    assert answers_in(said)[0].status == 200


def test_a_client_that_leaves_in_the_middle(server):
    for part in (WHOLE[:10], WHOLE[:-3], HEAD):
        assert server.raw(part, half_close=True) == b""
    assert server.get("/healthz").status == 200


def test_slow_clients_are_told(server):
    """Every byte comes in time, but the request does not."""
    with server.connect() as client:
        begin = time.monotonic()
        try:
            for byte in HEALTH:
                client.sendall(bytes([byte]))
                time.sleep(0.2)
        except ConnectionError:
            pass
        assert time.monotonic() - begin < 5
        said = everything(client)
    answer = answers_in(said)[0]
    assert (answer.status, answer.code) == (408, "request_timeout")


def test_idle_connections_are_closed(server):
    with server.connect(timeout=5) as client:
        assert client.recv(10) == b""


def test_empty_lines_win_no_time(server):
    """--read-timeout 1, --idle-timeout 1.5"""
    with server.connect(timeout=5) as client:
        begin = time.monotonic()
        with pytest.raises(ConnectionError):
            while time.monotonic() - begin < 5:
                client.sendall(b"\r\n")
                time.sleep(0.1)
        assert 1 < time.monotonic() - begin < 3


@pytest.mark.parametrize("header, status", [(b"Host: a\r\nHost: b\r\n", 400), (b"", 400), (b"Host: a b\r\n", 400),
                                            (b"Host: localhost\r\nTransfer-Encoding: chunked;q=1\r\n", 501),
                                            (b"Host: localhost\r\nTransfer-Encoding: identity, chunked\r\n", 501),
                                            (b"Host: localhost\r\nTransfer-Encoding: Chunked\r\n", 200)])
def test_headers_that_leave_a_doubt(server, header, status):
    said = server.raw(b"POST /v1/predict HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\n" + header +
                      (b"\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)))
    assert [answer.status for answer in answers_in(said)] == [status]


def test_many_connections_do_not_disturb(server):
    """Idle ones, and ones that have begun a request."""
    clients = [server.connect() for _ in range(300)]
    for client in clients[::2]:
        client.sendall(WHOLE[:30])
    assert server.post("/v1/predict", {"model": "small", "input": "a b"}).status == 200
    assert metrics(server)["heed_connections"] >= 250
    for client in clients:
        client.close()
    until(lambda: metrics(server)["heed_connections"] < 10)


def test_too_many_connections(model):
    with Server(model, "--max-connections", "3") as server:
        kept = [server.connect() for _ in range(3)]
        for client in kept:
            client.sendall(HEALTH)
            assert b"200 OK" in client.recv(1000)
        said = server.raw()
        assert answers_in(said)[0].status == 503 and b"too_many_connections" in said
        kept.pop().close()
        until(lambda: b"200 OK" in server.raw(LAST))
        for client in kept:
            client.close()


def test_a_reader_that_does_not_read(server):
    """A client that asks for much and reads nothing keeps no one else waiting."""
    question = json.dumps({**long_question(100000), "stream": True}).encode()
    with server.connect() as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.sendall(HEAD.replace(b"predict", b"completions") + b"Content-Length: %d\r\n\r\n" % len(question) + question)
        time.sleep(0.3)
        assert server.post("/v1/predict", {"model": "small", "input": "a b"}).status == 200


def test_work_for_a_client_that_left_is_dropped(story):
    with Server(story, "--threads", "1") as server:
        question = json.dumps({**long_question(tokens_for(server, 20)), "stream": True}).encode()
        client = server.connect()
        client.sendall(HEAD.replace(b"predict", b"completions") + b"Content-Length: %d\r\n\r\n" % len(question) + question)
        client.recv(1000)
        client.close()
        begin = time.monotonic()
        assert server.post("/v1/completions", long_question(5)).status == 200
        assert time.monotonic() - begin < 5


# -------------------------------------------------------------------------------------------------------------- signals

def test_a_running_request_is_answered_before_the_end(story):
    server = Server(story, "--threads", "1")
    question = long_question(tokens_for(server, 1.0))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        idle = server.connect(timeout=10)
        asked = [pool.submit(server.post, "/v1/completions", question) for _ in range(2)]
        until(lambda: (seen := metrics(server))["heed_jobs_running"] and seen["heed_jobs_waiting"])  # both have arrived
        # Half of a request: the rest comes after the signal.
        late = server.connect(timeout=10)
        late.sendall(b"GET /readyz HT")
        until(lambda: metrics(server)["heed_connections"] >= 5)  # those of this test, and that of the question
        server.send(signal.SIGTERM)
        assert idle.recv(10) == b"", "idle connections are closed"
        until(lambda: cannot_connect(server))
        late.sendall(b"TP/1.1\r\nHost: localhost\r\n\r\n")
        answer = answers_in(everything(late))[0]
        assert (answer.status, answer.json) == (503, {"status": "stopping"})
        for answer in asked:
            assert answer.result().status == 200
            assert answer.result().headers["Connection"] == "close"
        late.close()
        idle.close()
    server.process.wait(timeout=40)  # a second signal would end it at once
    server.stop()


def cannot_connect(server):
    try:
        server.connect().close()
        return False
    except ConnectionError:
        return True


def test_the_grace_is_over_some_time(story):
    server = Server(story, "--threads", "1", "--grace", "0.3")
    question = long_question(tokens_for(server, 20))
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asked = pool.submit(server.post, "/v1/completions", question)
        until(lambda: metrics(server)["heed_jobs_running"] >= 1)
        begin = time.monotonic()
        server.send(signal.SIGTERM)
        assert server.process.wait(timeout=10) == 0
        assert time.monotonic() - begin < 5
        assert asked.exception() is not None or asked.result().status == 503
    server.stop()


def test_a_second_signal_ends_at_once(story):
    server = Server(story, "--threads", "1")
    question = long_question(tokens_for(server, 20))
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asked = pool.submit(server.post, "/v1/completions", question)
        until(lambda: metrics(server)["heed_jobs_running"] >= 1)
        server.send(signal.SIGTERM)
        time.sleep(0.2)
        server.send(signal.SIGTERM)
        server.process.wait(timeout=5)
        assert asked.exception() is not None or asked.result().status == 503
    server.process.communicate()


def test_models_are_reloaded_without_losing_a_request(tmp_path):
    """First one model, then another, then one that is damaged: it says so, and goes on with what it has."""
    one, two = (train_small(tmp_path / name, f"train.seed={seed}", "stop.steps=8") for name, seed in (("one", 1), ("two", 2)))
    served = tmp_path / "served"
    shutil.copytree(one, served)
    log = tmp_path / "log"
    with Server(served, "--threads", "1", "--log", log) as server:
        def output():
            return server.post("/v1/predict", {"input": "abcdef", "scores": True}).json["token_log_probabilities"]
        first, statuses, done = output(), [], threading.Event()

        def keep_asking():
            while not done.is_set():
                statuses.append(server.post("/v1/predict", {"input": "abcdef"}).status)
        askers = [threading.Thread(target=keep_asking) for _ in range(4)]
        for asker in askers:
            asker.start()
        swap(served, two, tmp_path)
        server.send(signal.SIGHUP)
        second = until(lambda: (lambda now: now if now != first else None)(output()))
        assert metrics(server)["heed_reloads_total"] == 1
        for file in served.rglob("weights.safetensors"):
            file.write_bytes(b"broken")
        server.send(signal.SIGHUP)
        until(lambda: metrics(server)["heed_reloads_failed_total"] == 1)
        assert output() == second
        until(lambda: len(statuses) > 10)
        done.set()
        for asker in askers:
            asker.join()
        assert set(statuses) == {200}
        # logrotate: the file was renamed, and SIGHUP begins a new one
        os.rename(log, tmp_path / "log.1")
        server.send(signal.SIGHUP)
        until(lambda: metrics(server)["heed_reloads_failed_total"] == 2)
        server.get("/healthz", X_Request_Id="after-the-rename")
        until(lambda: log.exists() and "after-the-rename" in log.read_text())
        said = server.stop()
    assert "weights.safetensors" in said or "served" in said


def swap(served, other, scratch):
    """Another model at the same place, as a new training would leave it."""
    os.rename(served, scratch / "old")
    shutil.copytree(other, served)
