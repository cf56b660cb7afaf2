"""heed serve: what it says, what it answers, and that this is what heed predict, score and look say."""
import base64
import concurrent.futures
import json
import signal
import subprocess

import pytest
from heed_program import CANNOT_CREATE, DATA, NO_INPUT, PROGRAM, USAGE, heed, run, train_small
from heed_server import Server, metrics, until
from story_model import train_story


@pytest.fixture(name="story", scope="module")
def story_model(tmp_path_factory):
    return train_story(tmp_path_factory.mktemp("texts"))


@pytest.fixture(name="log", scope="module")
def log_file(tmp_path_factory):
    return tmp_path_factory.mktemp("log") / "access.jsonl"


@pytest.fixture(name="server", scope="module")
def served(model, story, log):
    with Server(model, story, "--threads", "2", "--log", log) as server:
        yield server


INPUTS = ["abcd", "efg", "hhhij", "k", "badcefghi"]


# ------------------------------------------------------------------------------------------------------ starting, ending

def test_it_says_where_it_listens(server):
    assert server.names == ["small", "story"]


@pytest.mark.parametrize("words, code, said", [
    (["no-such-folder"], NO_INPUT, "no-such-folder"),
    ([], USAGE, "MODEL"),
    (["{model}", "--prot", "1"], USAGE, "--port"),
    (["{model}", "--port", "70000"], USAGE, "70000"),
    (["{model}", "--max-body", "0"], USAGE, "--max-body"),
    (["{model}", "{model}"], USAGE, "small"),
    (["{model}", "--token-file", "no-such-file"], NO_INPUT, "no-such-file"),
    (["{model}", "--host", "999.1.1.1"], USAGE, "999.1.1.1"),
    (["{model}", "--log", "no-such-folder/log"], CANNOT_CREATE, "no-such-folder/log"),
])
def test_mistakes_are_named(model, words, code, said):
    done = heed("serve", *[word.format(model=model) for word in words])
    assert (done.returncode, said in done.stderr) == (code, True), (done.returncode, done.stderr)
    assert done.stdout == ""


def test_a_port_that_is_taken(model, server):
    done = heed("serve", str(model), "--port", str(server.port))
    assert done.returncode == CANNOT_CREATE
    assert str(server.port) in done.stderr and "in use" in done.stderr.lower()


def test_a_damaged_model_is_refused(damaged):
    assert heed("serve", str(damaged)).returncode == DATA


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_asked(model, which):
    server = Server(model)
    assert server.get("/healthz").status == 200
    server.stop(which)


def test_signals_may_come_at_once(model):
    Server(model).stop()  # once: a second SIGTERM would end it at once
    server = Server(model)
    server.send(signal.SIGHUP)
    server.stop()


def test_models_get_names(model):
    with Server(f"first={model}", f"second={model}") as server:
        assert server.names == ["first", "second"]
        assert [m["id"] for m in server.get("/v1/models").json["data"]] == ["first", "second"]


# -------------------------------------------------------------------------------------------------------------- routes

def test_models_are_listed(server):
    listed = server.get("/v1/models").json
    assert listed["object"] == "list"
    assert listed["data"] == [{"id": name, "object": "model", "created": 0, "owned_by": "heed"}
                              for name in ("small", "story")]
    assert [(m["name"], m["task"], m["kind"]) for m in listed["models"]] == [
        ("small", "seq2seq", "rnn"), ("story", "language_model", "rnn")]
    assert all(m["about"] for m in listed["models"])
    # Only built-in tasks have texts to try: a model of somebody's data tells nothing about it.
    small, story = listed["models"]
    assert "backwards" in small["description"] and len(small["examples"]) == 5
    assert not {"description", "examples"} & set(story)


def test_health(server):
    for path in ("/healthz", "/readyz"):
        answer = server.get(path)
        assert (answer.status, answer.json) == (200, {"status": "ok"})


def test_the_page(server):
    answer = server.get("/")
    if answer.status == 404:
        assert answer.code == "not_found" and "page" in answer.text
    else:
        assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/html")
        assert "<!doctype html>" in answer.text[:100].lower()


def test_head_has_the_header_alone(server):
    answer = server.ask("HEAD", "/healthz")
    assert (answer.status, answer.body) == (200, b"")
    assert int(answer.headers["Content-Length"]) > 0


def test_the_description(server):
    assert server.get("/openapi.json").json["openapi"].startswith("3.1")


def test_training_curves(server, model):
    curves = server.get("/v1/training").json["training"]
    assert [curve["name"] for curve in curves] == ["small", "story"]
    steps = [json.loads(line) for line in (model / "log.jsonl").read_text().splitlines()]
    assert curves[0]["points"][-1]["step"] == max(line["step"] for line in steps if "step" in line)
    assert any(point.get("valid_loss") is not None for point in curves[0]["points"])


# --------------------------------------------------------------------------------------------------------- predictions

def predicted(model, lines, *options):
    done = run("predict", model, *options, given="".join(line + "\n" for line in lines).encode())
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().split("\n")[:-1]


@pytest.mark.parametrize("members, options", [
    ({}, []),
    ({"beam": 5, "length_penalty": 0.6}, ["--beam", 5, "--length-penalty", 0.6]),
    ({"beam": 3, "mean_score": True, "coverage": 0.2}, ["--beam", 3, "--mean-score", "--coverage", 0.2]),
    ({"max_length": 3}, ["--max-length", 3]),
    ({"must": ["c"], "must_not": "b", "beam": 4}, ["--must", "c", "--must-not", "b", "--beam", 4]),
    ({"prefix": "a", "no_repeat_ngram": 2}, ["--prefix", "a", "--no-repeat-ngram", 2]),
    ({"beam": 4, "groups": 2, "diversity": 0.7}, ["--beam", 4, "--groups", 2, "--diversity", 0.7]),
])
def test_outputs_are_those_of_predict(server, model, members, options):
    expected = predicted(model, INPUTS, *options)
    together = server.post("/v1/predict", {"model": "small", "inputs": INPUTS, **members})
    assert together.status == 200, together.text
    assert [p["output"] for p in together.json["predictions"]] == expected
    alone = server.post("/v1/predict", {"model": "small", "input": INPUTS[0], **members}).json
    assert (alone["model"], alone["output"]) == ("small", expected[0])


def test_members_are_those_of_predict(server, model):
    options = ["--json", "--nbest", 3, "--beam", 4, "--scores", "--alignments=matrix"]
    expected = json.loads(predicted(model, ["abcd"], *options)[0])
    said = server.post("/v1/predict", {"model": "small", "input": "abcd", "nbest": 3, "beam": 4, "scores": True,
                                       "alignments": "matrix"}).json
    for member in expected.keys() - {"line", "source"}:
        assert said[member] == expected[member], member
    assert len(said["outputs"]) == 3
    links = server.post("/v1/predict", {"model": "small", "input": "a b c d", "alignments": "links"}).json["alignment"]
    assert all(len(link) == 2 for link in links)
    assert "alignment" not in server.post("/v1/predict", {"model": "small", "input": "a b c d"}).json


def test_samples_follow_the_seed(server):
    def drawn(**members):
        return server.post("/v1/predict", {"model": "small", "input": "abcdef", "sample": True, "temperature": 2.0,
                                           "top_k": 8, "top_p": 0.99, **members}).json["output"]
    assert drawn(seed=7) == drawn(seed=7)
    assert len({drawn(seed=n) for n in range(8)}) > 1
    assert len({drawn() for _ in range(8)}) > 1


def test_one_bad_text_does_not_stop_the_others(server, model):
    predictions = server.post("/v1/predict", {"model": "small", "inputs": ["a b", "", "c d"]}).json["predictions"]
    assert [("error" in p, p["output"]) for p in predictions][::2] == [
        (False, output) for output in predicted(model, ["a b", "c d"])]


def test_many_clients_get_their_own_answers(server, model):
    """Requests that arrive together are answered by one search; nobody may get what another asked for."""
    inputs = ["".join("abcdefghij"[(i * k) % 10] for k in range(1, 2 + i % 9)) for i in range(60)]
    expected = predicted(model, inputs)

    def one(i):
        return server.post("/v1/predict", {"model": "small", "input": inputs[i], "beam": 1 + i % 2}).json["output"]
    beam = predicted(model, inputs, "--beam", 2)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        said = list(pool.map(one, range(60)))
    assert said == [beam[i] if i % 2 else expected[i] for i in range(60)]


# -------------------------------------------------------------------------------------------------------- other routes

def test_scores_are_those_of_score(server, model):
    pairs = [("abc", "cba"), ("de", "ed")]
    done = subprocess.run([PROGRAM, "score", str(model), "-", "--json", "--per-token"], capture_output=True, check=True,
                          input="".join(f"{s}\t{t}\n" for s, t in pairs).encode())
    expected = [json.loads(line) for line in done.stdout.splitlines()]
    said = server.post("/v1/score", {"model": "small", "scores": True,
                                     "pairs": [{"source": s, "target": t} for s, t in pairs]}).json
    for one, other in zip(said["scores"], expected):
        for member in ("log_probability", "token_count", "tokens", "token_log_probabilities"):
            assert one[member] == other[member], member
    alone = server.post("/v1/score", {"model": "small", "source": "abc", "target": "cba"}).json
    assert alone == {"model": "small", **{k: expected[0][k] for k in ("log_probability", "token_count")}}


def test_a_text_can_be_scored_alone(server):
    likely = server.post("/v1/score", {"model": "story", "target": "the cat sat on the mat."}).json
    unlikely = server.post("/v1/score", {"model": "story", "target": "tam eht no tas tac eht."}).json
    assert likely["log_probability"] > unlikely["log_probability"]


def test_attention_is_that_of_look(server, model, tmp_path):
    said = server.post("/v1/attention", {"model": "small", "input": "a b c d"}).json
    file = tmp_path / "looked.json"
    assert heed("look", str(model), "a b c d", "--json", str(file)).returncode == 0
    looked = json.loads(file.read_text())
    assert (said["format"], said["version"]) == ("heed.attention", 1)
    mine, theirs = said["examples"][0], looked["examples"][0]
    assert (mine["output"], mine["sequences"]) == (theirs["output"], theirs["sequences"])
    assert [m["name"] for m in mine["maps"]] == [m["name"] for m in theirs["maps"]]
    for m in mine["maps"]:
        assert m["weights"]["encoding"] == "sqrt_u8"
        assert len(base64.b64decode(m["weights"]["data"])) == m["heads"] * m["rows"] * m["cols"]


def test_attention_to_a_given_target(server):
    said = server.post("/v1/attention", {"model": "small", "input": "a b", "target": "b a"}).json
    assert said["examples"][0]["output"] == "b a"


# ----------------------------------------------------------------------------------------------------------- streaming

def test_a_stream_ends_with_the_prediction(server):
    question = {"model": "small", "input": "abcd", "prefix": "dcb"}
    whole = server.post("/v1/predict", question).json
    answer = server.post("/v1/predict", {**question, "stream": True})
    assert answer.status == 200 and answer.headers["X-Request-Id"]
    *texts, last, done = answer.events
    assert (done, json.loads(last)) == ("[DONE]", whole)
    assert len(texts) > 1, "nothing was shown before the end"
    assert all({"text"} <= set(json.loads(text)) <= {"text", "token"} for text in texts)


def test_a_stream_of_a_beam_may_change_its_mind(server):
    question = {"model": "small", "input": "abcde", "beam": 4, "stream": True}
    *texts, last, _ = server.post("/v1/predict", question).events
    before = ""
    for event in map(json.loads, texts):
        assert ("token" in event) == event["text"].startswith(before)
        before = event["text"]
    assert json.loads(last) == server.post("/v1/predict", {**question, "stream": False}).json


def test_text_grows_in_a_stream(server):
    question = {"model": "story", "input": "the cat", "max_length": 30}
    answer = server.post("/v1/predict", {**question, "stream": True})
    *texts, last, _ = [json.loads(event) if event != "[DONE]" else event for event in answer.events]
    assert len(texts) > 1, "nothing was shown before the end"
    so_far = ""
    for event in texts:
        assert event["text"].startswith(so_far)
        if "token" in event:
            assert event["text"] == so_far + event["token"]
        so_far = event["text"]
    assert last["output"].startswith(so_far)
    assert last == server.post("/v1/predict", question).json


# --------------------------------------------------------------------------------------------------- what is remembered

def test_request_ids(server):
    assert server.get("/healthz", X_Request_Id="my-id_1.2").headers["X-Request-Id"] == "my-id_1.2"
    made = {server.get("/healthz").headers["X-Request-Id"] for _ in range(3)}
    assert len(made) == 3
    for bad in ("with blank", "x" * 129, "a/b", "ä".encode().decode("latin-1")):
        assert server.get("/healthz", X_Request_Id=bad).headers["X-Request-Id"] not in (bad, "")


def test_the_access_log(server, log):
    answer = server.post("/v1/predict", {"model": "small", "input": "a b"}, X_Request_Id="for-the-log")
    server.get("/nothing", X_Request_Id="not-there")

    def line(name):
        return next((entry for entry in map(json.loads, log.read_text().splitlines()) if entry["id"] == name), None)
    good, bad = until(lambda: line("for-the-log")), until(lambda: line("not-there"))
    assert (good["method"], good["path"], good["status"], good["client"]) == ("POST", "/v1/predict", 200, "127.0.0.1")
    assert good["bytes"] == len(answer.body) and good["ms"] >= 0 and good["time"].endswith("Z")
    assert (bad["path"], bad["status"]) == ("/nothing", 404)
    assert "a b" not in json.dumps(good), "texts of users do not belong into a log"


def test_metrics(server):
    before = metrics(server)
    server.post("/v1/predict", {"model": "small", "inputs": ["a b", "c d"]})
    server.get("/nobody/knows/this")
    after = until(lambda: (lambda now: now if now.get('heed_requests_total{route="other",status="404"}', 0) >
                           before.get('heed_requests_total{route="other",status="404"}', 0) else None)(metrics(server)))
    name = 'heed_requests_total{route="/v1/predict",status="200"}'
    assert after[name] == before.get(name, 0) + 1
    assert after["heed_texts_total"] == before["heed_texts_total"] + 2
    assert not any("nobody" in key for key in after), "clients must not be able to fill the memory with names"
    buckets = [value for key, value in after.items() if key.startswith('heed_request_seconds_bucket{route="/v1/predict"')]
    assert buckets == sorted(buckets) and buckets[-1] == after['heed_request_seconds_count{route="/v1/predict"}']
    text = server.get("/metrics")
    assert text.headers["Content-Type"].startswith("text/plain")
    named = {line.split()[2] for line in text.text.splitlines() if line.startswith("# TYPE")}
    for key in after:
        family = key.partition("{")[0]
        assert family in named or any(family == f"{n}_{end}" for n in named for end in ("bucket", "sum", "count")), key


# ---------------------------------------------------------------------------------------------------- tokens and origins

def test_the_token(model, tmp_path):
    (tmp_path / "token").write_text("s3cret-token\n")
    with Server(model, "--token-file", tmp_path / "token") as server:
        for path in ("/healthz", "/readyz"):
            assert server.get(path).status == 200
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "s3cret-token"},
                        {"Authorization": "Bearer s3cret-token "[:-2]}, {"Authorization": "Basic s3cret-token"}):
            answer = server.get("/v1/models", **headers)
            assert (answer.status, answer.code) == (401, "unauthorised"), headers
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        for path in ("/metrics", "/v1/training"):
            assert server.get(path).status == 401
        assert server.post("/v1/predict", {"input": "a b"}).status == 401
        good = {"Authorization": "Bearer s3cret-token"}
        assert server.get("/v1/models", **good).status == 200
        assert server.post("/v1/predict", {"input": "a b"}, **good).status == 200
        assert server.get("/metrics", **{"Authorization": "bearer s3cret-token"}).status == 200  # RFC 9110, 11.1


def test_an_empty_token_is_refused(model, tmp_path):
    (tmp_path / "token").write_text("\n")
    assert heed("serve", str(model), "--token-file", str(tmp_path / "token")).returncode in (USAGE, DATA)


def test_names_that_are_not_its_own(model, tmp_path):
    """Somebody's name that points to 127.0.0.1 (DNS rebinding): his pages must not read answers."""
    (tmp_path / "token").write_text("s3cret-token\n")
    question, evil = {"input": "a b"}, {"Host": "evil.example:8080"}
    with Server(model) as server:
        for answer in (server.post("/v1/predict", question, **evil), server.get("/v1/models", **evil),
                       server.get("/metrics", **evil)):
            assert (answer.status, answer.code) == (421, "host"), answer.text
        assert "--host-name" in server.get("/v1/models", **evil).json["error"]["message"]
        for host in ("localhost", f"127.0.0.1:{server.port}", "[::1]:80", "heed.localhost"):
            assert server.post("/v1/predict", question, Host=host).status == 200, host
        assert server.get("/healthz", **evil).status == 200  # says nothing
    with Server(model, "--host-name", "models.example.org", "--host-name", "b.example.org") as server:
        for host, status in (("models.example.org", 200), ("B.example.org:80", 200), ("evil.example", 421)):
            assert server.get("/v1/models", Host=host).status == status, host
    with Server(model, "--token-file", tmp_path / "token") as server:  # a page of others does not know the token
        assert server.get("/v1/models", Authorization="Bearer s3cret-token", **evil).status == 200
    with Server(model, "--host", "0.0.0.0") as server:
        assert server.get("/v1/models", **evil).status == 200


def test_other_origins_are_not_let_in_unless_asked(server, model):
    asked = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
    assert "Access-Control-Allow-Origin" not in server.get("/v1/models", Origin="https://example.org").headers
    assert "Access-Control-Allow-Origin" not in server.ask("OPTIONS", "/v1/predict", **asked).headers
    with Server(model, "--cors", "https://example.org") as open_server:
        answer = open_server.post("/v1/predict", {"input": "a b"}, Origin="https://example.org")
        assert answer.headers["Access-Control-Allow-Origin"] == "https://example.org"
        before = open_server.ask("OPTIONS", "/v1/predict", **asked)
        assert before.status == 204 and "POST" in before.headers["Access-Control-Allow-Methods"]
        assert "content-type" in before.headers["Access-Control-Allow-Headers"].lower()
        other = open_server.get("/v1/models", Origin="https://evil.example")
        assert other.headers.get("Access-Control-Allow-Origin") != "https://evil.example"


def test_the_only_model_needs_no_name(model):
    with Server(model) as server:
        assert server.post("/v1/predict", {"input": "a b"}).json["model"] == "small"


def test_a_model_file(model, tmp_path):
    file = tmp_path / "one.heed"
    assert heed("export", str(model), "--output", str(file)).returncode == 0
    with Server(file) as server:
        assert server.names == ["one.heed"]
        assert server.post("/v1/predict", {"input": "a b"}).json["output"] == predicted(model, ["a b"])[0]
        assert server.get("/v1/training").json == {"training": []}


def test_checkpoints(tmp_path):
    folder = train_small(tmp_path / "two", "stop.steps=20", "validate.every=10")
    with Server(folder, "--checkpoint", "step-000010") as server:
        expected = predicted(folder, ["abc"], "--checkpoint", "step-000010")[0]
        assert server.post("/v1/predict", {"input": "abc"}).json["output"] == expected
