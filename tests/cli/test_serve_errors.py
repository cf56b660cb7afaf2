"""heed serve: everything that is refused, with its status and code, and that it goes on serving after it."""
import base64
import concurrent.futures
import json
import time

import pytest
from heed_program import SOURCE
from heed_server import Server, answers_in, metrics, until
from picture_model import inline, png, train_colours
from story_model import long_question, tokens_for, train_story


@pytest.fixture(name="story", scope="module")
def story_model(tmp_path_factory):
    return train_story(tmp_path_factory.mktemp("texts"))


@pytest.fixture(name="server", scope="module")
def served(model, story):
    with Server(model, story, "--threads", "2", "--max-body", "20000", "--max-text", "300", "--max-texts", "8",
                "--max-length", "50") as server:
        yield server


def still_serves(server):
    return server.post("/v1/predict", {"model": "small", "input": "a b"}).status == 200


# -------------------------------------------------------------------------------------------------------------- bodies

GOOD = {"model": "small", "input": "a b"}
BODIES = [
    ("/v1/predict", b"", 400, "bad_json"),
    ("/v1/predict", b"{", 400, "bad_json"),
    ("/v1/predict", b"[]", 400, "bad_json"),
    ("/v1/predict", b"null", 400, "bad_json"),
    ("/v1/predict", b'"a b"', 400, "bad_json"),
    ("/v1/predict", b'{"model": "small", "input": "\xff"}', 400, "bad_json"),
    ("/v1/predict", b'{"model": "small", "input": "\\ud800"}', 400, "bad_json"),
    ("/v1/predict", b"[" * 10000, 400, "bad_json"),
    ("/v1/predict", b'{"input":' * 1000, 400, "bad_json"),
    ("/v1/predict", b'{"model": "small", "input": "a b"} x', 400, "bad_json"),
    ("/v1/predict", {}, 400, "bad_member"),
    ("/v1/predict", {"model": "small"}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "inputs": ["a"]}, 400, "bad_member"),
    ("/v1/predict", {"model": "small", "inputs": []}, 400, "bad_member"),
    ("/v1/predict", {"model": "small", "inputs": "a"}, 400, "bad_member"),
    ("/v1/predict", {"model": "small", "inputs": ["a", 1]}, 400, "bad_member"),
    ("/v1/predict", {"model": "small", "input": ["a"]}, 400, "bad_member"),
    ("/v1/predict", {"model": 1, "input": "a"}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "baem": 5}, 400, "unknown_member"),
    ("/v1/predict", {**GOOD, "": 5}, 400, "unknown_member"),
    ("/v1/predict", {**GOOD, "beam": "5"}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "beam": -1}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "beam": 1.5}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "beam": 10**30}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "beam": True}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "beam": 17}, 400, "beam_too_wide"),
    ("/v1/predict", {**GOOD, "nbest": 17}, 400, "beam_too_wide"),
    ("/v1/predict", {**GOOD, "lengths": 17}, 400, "beam_too_wide"),
    ("/v1/predict", {**GOOD, "max_length": 51}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "length_penalty": -1}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "sample": True, "temperature": 0}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "sample": True, "top_p": 1.1}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "sample": True, "seed": -1}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "temperature": 0.5}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "alignments": "some"}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "stream": 1}, 400, "bad_member"),
    ("/v1/predict", {"model": "small", "inputs": ["a"], "stream": True}, 400, "bad_member"),
    ("/v1/predict", {**GOOD, "groups": 2, "beam": 3}, 400, "input"),
    ("/v1/predict", {**GOOD, "layer": 7}, 400, "input"),
    ("/v1/predict", {**GOOD, "must": "never seen"}, 400, "input"),
    ("/v1/predict", {**GOOD, "must": "never seen", "stream": True}, 400, "input"),
    ("/v1/predict", {"input": "a b"}, 400, "no_model"),
    ("/v1/predict", {"model": "smal", "input": "a b"}, 404, "no_model"),
    ("/v1/predict", {"model": "../small", "input": "a b"}, 404, "no_model"),
    ("/v1/predict", {"model": "small", "input": "a " * 200}, 413, "text_too_long"),
    ("/v1/predict", {"model": "small", "input": "data:image/png;base64," + "A" * 400}, 413, "text_too_long"),
    ("/v1/completions", {"model": "story", "prompt": "data:image/png;base64," + "A" * 400}, 413, "text_too_long"),
    ("/v1/predict", {**GOOD, "prefix": "a " * 200}, 413, "text_too_long"),
    ("/v1/predict", {**GOOD, "must": ["a " * 200]}, 413, "text_too_long"),
    ("/v1/predict", {"model": "small", "inputs": ["a"] * 9}, 413, "too_many_texts"),
    ("/v1/predict", {"model": "small", "input": "a" * 30000}, 413, "body_too_large"),
    ("/v1/score", {"model": "small"}, 400, "bad_member"),
    ("/v1/score", {"model": "small", "pairs": []}, 400, "bad_member"),
    ("/v1/score", {"model": "small", "pairs": [1]}, 400, "bad_member"),
    ("/v1/score", {"model": "small", "pairs": [{"source": "a"}]}, 400, "bad_member"),
    ("/v1/score", {"model": "small", "pairs": [{"source": "a", "target": "b", "x": 1}]}, 400, "unknown_member"),
    ("/v1/score", {"model": "small", "source": "a", "target": "b", "beam": 1}, 400, "unknown_member"),
    ("/v1/score", {"model": "small", "source": "a", "target": "a " * 200}, 413, "text_too_long"),
    ("/v1/score", {"model": "small", "pairs": [{"source": "a", "target": "b"}] * 9}, 413, "too_many_texts"),
    ("/v1/attention", {"model": "small"}, 400, "bad_member"),
    ("/v1/attention", {**GOOD, "inputs": ["a"]}, 400, "unknown_member"),
    ("/v1/attention", {**GOOD, "stream": True}, 400, "unknown_member"),
    ("/v1/attention", {**GOOD, "target": 1}, 400, "bad_member"),
    ("/v1/attention", {"model": "small", "input": ""}, 400, "input"),
    ("/v1/completions", {"model": "small", "prompt": "a"}, 400, "not_a_language_model"),
    ("/v1/completions", {"model": "story", "prompt": 1}, 400, "bad_member"),
    ("/v1/completions", {"model": "story", "prompt": "a", "max_tokens": 0}, 400, "bad_member"),
    ("/v1/completions", {"model": "story", "prompt": "a", "max_tokens": 51}, 400, "bad_member"),
    ("/v1/completions", {"model": "story", "prompt": "a", "n": 17}, 400, "beam_too_wide"),
    ("/v1/completions", {"model": "story", "prompt": "a", "stop": list("abcde")}, 400, "bad_member"),
]


@pytest.mark.parametrize("path, body, status, code", BODIES, ids=lambda value: str(value)[:60])
def test_bodies(server, path, body, status, code):
    answer = server.post(path, body)
    assert (answer.status, answer.code) == (status, code), answer.text


def test_the_message_helps(server):
    message = server.post("/v1/predict", {**GOOD, "baem": 5}).json["error"]["message"]
    assert "baem" in message and '"beam"' in message
    message = server.post("/v1/predict", {"model": "smal", "input": "a"}).json["error"]["message"]
    assert "'small'" in message and "story" in message


def test_what_one_input_cannot_be(placed):
    """More tokens than the model has places for: a failure of the only input is one of the request."""
    with Server(placed) as server:
        long = " ".join("abcdefghij" * 10)
        for members in ({}, {"stream": True}):
            answer = server.post("/v1/predict", {"input": long, **members})
            assert (answer.status, answer.code) == (400, "input"), answer.text
        both = server.post("/v1/predict", {"inputs": [long, "a b"]}).json["predictions"]
        assert ["error" in one for one in both] == [True, False]


def test_nothing_gives_nothing(server):
    """As an empty line of heed predict."""
    assert server.post("/v1/predict", {"model": "small", "input": ""}).json["output"] == ""


def test_null_is_as_good_as_nothing(server):
    assert server.post("/v1/predict", {**GOOD, "beam": None, "inputs": None, "stream": None}).status == 200


# ------------------------------------------------------------------------------------------------------------- headers

@pytest.mark.parametrize("method, path, status, code", [
    ("GET", "/v2/predict", 404, "not_found"), ("GET", "/v1/predict/", 404, "not_found"), ("GET", "//", 404, "not_found"),
    ("POST", "/v1", 404, "not_found"), ("GET", "/V1/models", 404, "not_found"), ("GET", "/favicon.ico", 404, "not_found"),
    ("GET", "/v1/predict", 405, "method"), ("POST", "/v1/models", 405, "method"), ("DELETE", "/healthz", 405, "method"),
    ("PUT", "/v1/predict", 405, "method"), ("OPTIONS", "/v1/predict", 405, "method"), ("POST", "/", 405, "method"),
    ("BREW", "/v1/predict", 405, "method"),
])
def test_paths_and_methods(server, method, path, status, code):
    answer = server.ask(method, path)
    assert (answer.status, answer.code) == (status, code)
    if status == 405:
        assert answer.headers["Allow"] in ("GET", "POST", "GET, HEAD")


def test_paths_have_queries(server):
    assert server.get("/healthz?a=/b").status == 200


@pytest.mark.parametrize("kind, status", [
    ("application/json", 200), ("application/json; charset=utf-8", 200), ("Application/JSON", 200),
    ("text/plain", 415), ("application/x-www-form-urlencoded", 415), ("multipart/form-data; boundary=x", 415),
    ("application/jsonp", 415), ("", 415),
])
def test_types(server, kind, status):
    answer = server.post("/v1/predict", GOOD, Content_Type=kind)
    assert answer.status == status
    if status == 415:
        assert answer.code == "content_type"


def test_a_header_that_is_too_large(server):
    for name in ("X-Long", "Cookie"):
        answer = server.get("/healthz", **{name: "x" * 20000})
        assert (answer.status, answer.code) == (431, "header_too_large")
    answer = answers_in(server.raw(b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"))[0]
    assert answer.status in (431, 414)
    assert still_serves(server)


def test_a_body_is_refused_before_it_is_sent(server):
    answers = answers_in(server.raw(b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                    b"Content-Length: 10000000000\r\n\r\n"))
    assert [(a.status, a.code) for a in answers] == [(413, "body_too_large")]
    assert answers[0].headers["Connection"] == "close"


# -------------------------------------------------------------------------------------------------- nothing but requests

NASTY = [
    b"\r\n\r\n\r\n", b"\0" * 100, b"\xff\xfe\xfd\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1", b"GET /\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/2.0\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\n\n",
    b"GET  /  HTTP/1.1\r\n\r\n", b" GET / HTTP/1.1\r\n\r\n", b"G\0T / HTTP/1.1\r\n\r\n", b"GET /\0 HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nno colon here\r\n\r\n", b"GET / HTTP/1.1\r\n: no name\r\n\r\n",
    b"GET / HTTP/1.1\r\nA b: c\r\n\r\n", b"GET / HTTP/1.1\r\nA: b\0c\r\n\r\n", b"GET / HTTP/1.1\r\n folded: x\r\n\r\n",
    b"POST /v1/predict HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"POST /v1/predict HTTP/1.1\r\nContent-Length: x\r\n\r\n",
    b"POST /v1/predict HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    b"POST /v1/predict HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    b"POST /v1/predict HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /v1/predict HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
    b"POST /v1/predict HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n\r\n",
    b"POST /v1/predict HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
    b"POST /v1/predict HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", b"CONNECT example.org:443 HTTP/1.1\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x42" * 300,  # a browser that tries https
]


@pytest.mark.parametrize("bytes_", NASTY, ids=lambda value: repr(value)[2:40])
def test_malformed_http(server, bytes_):
    """Never an answer of the 200s, never silence where a request has come to its end, and the next client is served."""
    said = server.raw(bytes_, half_close=True)
    for answer in answers_in(said):
        assert answer.status in (400, 404, 405, 411, 413, 415, 417, 501, 505), answer.text
        assert answer.code and answer.headers["X-Request-Id"]
    if b"HTTP/1.1\r\n" in bytes_ and b"\r\n\r\n" in bytes_:
        assert said, "no answer"
    assert server.get("/healthz").status == 200


def test_one_request_is_never_two(server):
    """What a proxy sees as one request must not be two here: a length and chunks do not go together."""
    hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for second in (b"Transfer-Encoding: chunked", b"Transfer-Encoding: xchunked", b"Transfer-Encoding : chunked",
                   b"Content-Length: 0"):
        said = server.raw(b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                          + str(len(hidden)).encode() + b"\r\n" + second + b"\r\n\r\n" + hidden)
        assert b'"status":"ok"' not in said, second
    for coding in (b"gzip", b"xchunked", b"chunked, gzip"):
        said = server.raw(b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: " + coding + b"\r\n\r\n" + hidden)
        assert [(a.status, a.code) for a in answers_in(said)] == [(501, "transfer_encoding")], coding


# ------------------------------------------------------------------------------------------------------ no files, no way

@pytest.mark.parametrize("path", [
    "/../../../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/v1/../../etc/passwd", "/etc/passwd",
    "/./", "/%00", "/..\\..\\etc\\passwd", "/v1/models/%2e%2e/", "file:///etc/passwd", "//etc/passwd",
])
def test_no_path_reaches_a_file(server, path):
    said = server.raw(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    answer = answers_in(said)[0]
    assert answer.status in (400, 404) and b"root:" not in said


def test_no_text_names_a_file(server):
    for name in ("../small", "/etc/passwd", "small/../story", "small\0"):
        assert server.post("/v1/predict", {"model": name, "input": "a"}).status == 404
    for member in ("checkpoint", "ensemble", "rerank_reverse", "must_file", "output", "overlay"):
        assert server.post("/v1/predict", {**GOOD, member: "/etc/passwd"}).code == "unknown_member"


def test_models_of_pictures_read_no_files(tmp_path):
    with Server(train_colours(tmp_path / "pictures"), "--max-text", "100") as server:
        # A picture is part of the request itself. It may be longer than a text, but the question may not.
        plain = inline(png(30, 30, (200, 20, 20)))
        assert len(plain) > 100 and server.post("/v1/predict", {"input": f"{plain}\twhich colour"}).status == 200
        assert server.post("/v1/attention", {"input": f"{plain}\twhich colour"}).status == 200
        assert server.post("/v1/predict", {"input": f"{plain}\t{'which ' * 30}"}).code == "text_too_long"
        assert server.post("/v1/predict", {"input": f"{plain[:60]}\twhich colour"}).code == "input"
        for name in (tmp_path / "pictures-data" / "0.png", "/etc/passwd", "0.png", f"{tmp_path}/missing.png"):
            for path, body in (("/v1/predict", {"input": f"{name}\twhich colour"}),
                               ("/v1/predict", {"inputs": ["x", f"{name}\twhich colour"]}),
                               ("/v1/predict", {"input": f"{name}\twhich colour", "stream": True}),
                               ("/v1/attention", {"input": f"{name}\twhich colour"}),
                               ("/v1/score", {"source": f"{name}\twhich colour", "target": "red"})):
                answer = server.post(path, body)
                assert (answer.status, answer.code) == (400, "picture_file"), (path, name, answer.text)
                assert "No such file" not in answer.text


# ------------------------------------------------------------------------------------------------- too much, too long

def test_a_client_has_its_share(story):
    with Server(story, "--per-client", "2", "--threads", "1") as server:
        question = long_question(tokens_for(server, 1.0))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: server.post("/v1/completions", question), range(4)))
        statuses = [a.status for a in answers]
        assert set(statuses) == {200, 429} and statuses.count(200) >= 2, statuses
        refused = [a for a in answers if a.status == 429]
        assert all(a.code == "too_many_requests" and int(a.headers["Retry-After"]) >= 1 for a in refused)
        assert server.post("/v1/completions", long_question(5)).status == 200


def test_overload_and_recovery(story):
    with Server(story, "--queue", "2", "--threads", "1") as server:
        question = long_question(tokens_for(server, 0.4))
        until(lambda: metrics(server)["heed_jobs_running"] == 0)  # an answer may be here before its thread is free
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: server.post("/v1/completions", question), range(8)))
            statuses = sorted(a.status for a in answers)
            assert set(statuses) == {200, 503} and statuses.count(200) >= 3, statuses  # one runs, two wait
            for answer in answers:
                if answer.status == 503:
                    assert answer.code == "overloaded" and int(answer.headers["Retry-After"]) >= 1
        assert server.get("/healthz").status == 200
        assert [server.post("/v1/completions", long_question(5)).status for _ in range(5)] == [200] * 5


def test_the_time_limit(story):
    with Server(story, "--time-limit", "0.3", "--threads", "1") as server:
        question = long_question(tokens_for(server, 3))
        begin = time.monotonic()
        answer = server.post("/v1/completions", question)
        assert (answer.status, answer.code) == (503, "time_limit")
        assert time.monotonic() - begin < 1.5
        streamed = server.post("/v1/completions", {**question, "stream": True})
        assert json.loads(streamed.events[-1])["error"]["code"] == "time_limit"
        assert server.post("/v1/completions", long_question(5)).status == 200


def test_the_document_lists_the_codes():
    """docs/serve.md has every code that these tests have seen."""
    page = (SOURCE / "docs" / "serve.md").read_text()
    codes = {code for *_, code in BODIES} | {
        "not_found", "method", "content_type", "header_too_large", "body_too_large", "unauthorised", "request_timeout",
        "too_many_requests", "overloaded", "time_limit", "picture_file", "sound_file", "bad_http", "bad_version",
        "transfer_encoding", "expectation", "too_many_connections"}
    assert [code for code in sorted(codes) if f"`{code}`" not in page] == []
