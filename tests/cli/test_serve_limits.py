# slow: 20 s
"""heed serve: what a request may cost. Large ones are refused before the work, or stopped while it is done."""
import json
import re
import signal
import threading
import time

import pytest
from heed_program import SOURCE, heed
from heed_server import Server, until
from picture_model import inline, png, train_colours

HEADS, LAYERS = 2, 2


@pytest.fixture(name="model", scope="module")
def small_transformer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limits")
    (folder / "pairs.tsv").write_text("".join(f"{a} {b}\t{b} {a}\n" for a in "abcdef" for b in "abcdef"))
    keys = ["model.kind=transformer", "model.width=16", f"model.encoder_layers={LAYERS}", f"model.decoder_layers={LAYERS}",
            f"attention.heads={HEADS}", "data.source_tokens=words", "data.target_tokens=words", "stop.steps=10"]
    done = heed("train", str(folder / "pairs.tsv"), "--output", str(folder / "model"), "--threads", "1",
                *[word for key in keys for word in ("--set", key)])
    assert done.returncode == 0, done.stderr
    return folder / "model"


@pytest.fixture(name="server", scope="module")
def served(model):
    with Server(model, "--threads", "2", "--max-tokens", "300", "--max-weights", "1000000", "--max-answer", "500000",
                "--max-text", "100000") as server:
        yield server


def peak_mb(server):
    status = open(f"/proc/{server.process.pid}/status", encoding="utf-8").read()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def words(count):
    return "a " * (count - 1) + "b"


# ----------------------------------------------------------------------------------------------------------- attention

def test_too_many_tokens(server):
    for body in ({"input": words(301)}, {"input": "a", "target": words(301)}):
        answer = server.post("/v1/attention", body)
        assert (answer.status, answer.code) == (413, "too_many_tokens"), answer.text
        assert "301 tokens" in answer.text and "--max-tokens" in answer.text


def test_too_many_weights(server):
    answer = server.post("/v1/attention", {"input": words(300), "target": words(300)})
    assert (answer.status, answer.code) == (413, "too_many_weights"), answer.text
    assert re.search(r"coder\.\d\.\w+ has 2 heads of 30[01] x 30[01] weights", answer.text) and "attentions" in answer.text
    one = server.post("/v1/attention", {"input": words(300), "target": words(300), "attentions": "encoder.1.self",
                                        "heads": [2], "rows": [11, 20]})
    assert one.status == 200, one.text


def test_too_large_an_answer(server):
    body = {"input": words(290), "target": words(290), "attentions": ["encoder.0.self", "decoder.0.source", "decoder.0.self"]}
    answer = server.post("/v1/attention", body)
    assert (answer.status, answer.code) == (413, "answer_too_large"), answer.text
    assert "--max-answer" in answer.text and "rows" in answer.text
    assert server.post("/v1/attention", {**body, "rows": [1, 100]}).status == 200
    assert server.post("/v1/attention", {**body, "heads": [1]}).status == 200


def test_matrices_of_predictions_have_the_limit_too(model):
    with Server(model, "--max-answer", "20000") as server:
        body = {"inputs": [words(60)] * 20, "max_length": 60, "no_repeat_ngram": 0}
        assert server.post("/v1/predict", body).status in (200, 413)
        few = server.post("/v1/predict", {"input": "a b", "alignments": "matrix"})
        assert few.status == 200 and few.json["alignment"]
        answer = server.post("/v1/predict", {**body, "alignments": "matrix"})
        assert (answer.status, answer.code) == (413, "answer_too_large"), answer.text


def test_a_search_that_would_keep_too_much(server):
    body = {"input": words(500), "max_length": 3000, "beam": 4}
    for path, more in (("/v1/predict", {"alignments": "links"}), ("/v1/attention", {})):
        answer = server.post(path, {**body, **more})
        assert (answer.status, answer.code) == (413, "too_many_weights") and "max_length" in answer.text, answer.text
    assert server.post("/v1/predict", {**body, "max_length": 20}).status == 200


def test_chosen_ones_are_those_of_the_whole_document(server):
    body = {"input": words(5), "target": "a b c"}
    whole = server.post("/v1/attention", body).json["examples"][0]
    some = server.post("/v1/attention", {**body, "attentions": ["decoder.1.source", "encoder.1.self"], "heads": [2],
                                         "rows": [2, 3]}).json["examples"][0]
    assert [m["name"] for m in some["maps"]] == ["encoder.1.self", "decoder.1.source"]
    for found in some["maps"]:
        full, = [m for m in whole["maps"] if m["name"] == found["name"]]
        assert (found["heads"], found["rows"], found["cols"]) == (1, 2, full["cols"])
        assert found["layer"] == full["layer"] and found["label"] == full["label"] + ", head 2 of 2"
        tokens = whole["sequences"][full["queries"]]["tokens"]
        assert some["sequences"][found["queries"]]["tokens"] == tokens[1:3]
        at = (full["rows"] + 1) * full["cols"]
        near(weights_of(found), weights_of(full)[at:at + 2 * full["cols"]])


def weights_of(found):
    import base64
    weights = found["weights"]
    assert weights["encoding"] == "sqrt_u8"
    return [weights["scale"] * (byte / 255) ** 2 for byte in base64.b64decode(weights["data"])]


def near(some, others):
    assert len(some) == len(others) and max(abs(a - b) for a, b in zip(some, others)) < 0.01


@pytest.mark.parametrize("member, code", [({"attentions": ["decoder.9.source"]}, "input"), ({"heads": [3]}, "input"),
                                          ({"heads": [1, 1]}, "input"), ({"heads": [0]}, "bad_member"), ({"heads": 1}, "bad_member"),
                                          ({"rows": [3]}, "bad_member"), ({"rows": [2, 1]}, "bad_member"),
                                          ({"rows": [9, 10]}, "input"), ({"rows": [0, 1]}, "bad_member"),
                                          ({"attentions": [1]}, "bad_member")])
def test_what_is_not_there_cannot_be_chosen(server, member, code):
    answer = server.post("/v1/attention", {"input": "a b", "target": "a", **member})
    assert (answer.status, answer.code) == (400, code), answer.text


def test_the_memory_of_a_request_is_bounded(model):
    """The largest that is answered, and a larger one that is refused: docs/serve.md states the bound."""
    weights, answer = 4_000_000, 3_000_000
    with Server(model, "--threads", "1", "--max-weights", str(weights), "--max-answer", str(answer), "--max-text",
                "100000", "--time-limit", "60") as server:
        assert server.post("/v1/attention", {"input": "a b"}).status == 200
        before = peak_mb(server)
        for tokens in (700, 1400, 4000):  # 6 maps of 2 heads: 5.9, 23 and 192 million weights
            answered = server.post("/v1/attention", {"input": words(tokens), "target": words(tokens)}, timeout=60)
            assert answered.status == 413, answered.text
        few = server.post("/v1/attention", {"input": words(1000), "target": words(900), "attentions": "decoder.1.source"})
        assert few.status == 200 and 2_000_000 < len(few.body) < answer
        bound = (16 * weights + 6 * answer) / 1e6
        assert peak_mb(server) - before < bound + 40, "40 MB for the model to read 4,000 tokens"


def test_the_deadline_holds_inside_the_work(model):
    with Server(model, "--threads", "1", "--max-weights", "4000000000", "--max-answer", "4000000000", "--max-text", "100000",
                "--time-limit", "0.5") as server:
        begin = time.monotonic()
        answer = server.post("/v1/attention", {"input": words(4000), "target": words(4000)}, timeout=60)
        assert (answer.status, answer.code) == (503, "time_limit"), answer.text[:300]
        assert time.monotonic() - begin < 3


# ------------------------------------------------------------------------------------------------------------ pictures

@pytest.fixture(name="colours", scope="module")
def picture_model(tmp_path_factory):
    return train_colours(tmp_path_factory.mktemp("pictures") / "colours")


@pytest.fixture(name="large", scope="module", params=[False, True], ids=["rows", "interlaced"])
def large_picture(request):
    """100 megapixels in some kilobytes."""
    return inline(png(10_000, 10_000, (0, 0, 0), interlaced=request.param))


def test_large_pictures_are_refused_by_their_header(colours, large):
    with Server(colours, "--threads", "1", "--time-limit", "3") as server:
        line = f"{large}\twhich colour"
        assert server.post("/v1/predict", {"input": inline(png(6, 6, (200, 20, 20))) + "\twhich colour"}).status == 200
        before = peak_mb(server)
        begin = time.monotonic()
        for path, body in (("/v1/predict", {"input": line}), ("/v1/attention", {"input": line}),
                           ("/v1/score", {"source": line, "target": "red"})):
            answer = server.post(path, body)
            assert (answer.status, answer.code) == (400, "input") and "10000 x 10000" in answer.text, answer.text
            assert "at most 16777216" in answer.text
        several = server.post("/v1/predict", {"inputs": [line, inline(png(6, 6, (9, 9, 9))) + "\twhich colour"]}).json
        assert "10000 x 10000" in several["predictions"][0]["error"] and several["predictions"][1]["output"]
        assert time.monotonic() - begin < 2 and peak_mb(server) - before < 20


def test_decoding_stops_when_the_time_is_over(colours, large):
    with Server(colours, "--threads", "1", "--time-limit", "0.2", "--max-pixels", str(2**28), "--max-body",
                "10000000") as server:
        begin = time.monotonic()
        answer = server.post("/v1/predict", {"inputs": [f"{large}\twhich colour"] * 5})
        assert (answer.status, answer.code) == (503, "time_limit"), answer.text
        assert time.monotonic() - begin < 4, "all five take more than that"


# ------------------------------------------------------------------------------------------------------------- options

@pytest.mark.parametrize("option", ["--time-limit", "--read-timeout", "--idle-timeout", "--grace"])
@pytest.mark.parametrize("value", ["nan", "-nan", "NAN", "inf", "-inf", "1e400", "-1", "", "1s"])
def test_times_are_numbers(model, option, value):
    done = heed("serve", str(model), "--port", "0", f"{option}={value}")
    assert done.returncode == 64 and option in done.stderr, done.stderr


@pytest.mark.parametrize("verb, option", [("predict", "--temperature"), ("predict", "--top-p"), ("predict", "--diversity"),
                                          ("predict", "--coverage"), ("predict", "--length-penalty"),
                                          ("predict", "--rerank-weight"), ("look", "--scale"), ("look", "--length-penalty"),
                                          ("evaluate", "--coverage"), ("compare", "--minutes")])
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_numbers_of_the_program_are_numbers(model, verb, option, value):
    done = heed(verb, str(model), option, value)
    assert done.returncode == 64 and option in done.stderr and value in done.stderr, done.stderr


def test_a_server_for_all_without_a_token_warns(model, tmp_path):
    (tmp_path / "token").write_text("secret\n")
    for arguments, warns in ((["--host", "0.0.0.0"], True), (["--host", "127.0.0.1"], False), ([], False),
                             (["--host", "0.0.0.0", "--token-file", str(tmp_path / "token")], False)):
        server = Server(model, *arguments)
        said = server.stop()
        assert ("--token-file" in said) == warns, (arguments, said)


# ---------------------------------------------------------------------------------------------------------- the signal

def test_no_request_is_lost_when_it_stops_under_load(model):
    """Connections that are kept: after the signal each gets an answer that says it is the last."""
    import http.client
    for _ in range(3):
        server = Server(model, "--threads", "2")
        problems, closed, answers = [], [], [0]
        stopping = threading.Event()

        def client():
            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            try:
                while True:
                    connection.request("POST", "/v1/predict", json.dumps({"input": "a b"}).encode(),
                                       {"Content-Type": "application/json"})
                    answer = connection.getresponse()
                    body = answer.read()
                    answers[0] += 1
                    if answer.status != 200 or not json.loads(body)["tokens"]:
                        problems.append((answer.status, body))
                    if answer.headers["Connection"] == "close":
                        closed.append(stopping.is_set())
                        return
                    time.sleep(0.01)
            except (OSError, http.client.HTTPException) as lost:
                problems.append(repr(lost))
            finally:
                connection.close()
        clients = [threading.Thread(target=client) for _ in range(12)]
        for each in clients:
            each.start()
        until(lambda: answers[0] > 50)
        stopping.set()
        server.send(signal.SIGTERM)
        for each in clients:
            each.join()
        server.process.wait(timeout=20)
        server.stop()
        assert problems == [] and closed == [True] * 12


def test_the_document_states_the_limits():
    page = (SOURCE / "docs" / "serve.md").read_text()
    for name in ("too_many_tokens", "too_many_weights", "answer_too_large", "--max-pixels", "16 bytes x `--max-weights`"):
        assert name in page, name
