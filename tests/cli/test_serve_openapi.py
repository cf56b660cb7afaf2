"""heed serve and heed/serve/openapi.json say the same: every route, member, range and answer, both ways."""
import json
import re

import pytest
from heed_program import SOURCE, text
from heed_server import Server
from story_model import train_story

jsonschema = pytest.importorskip("jsonschema")

FILE = json.loads(text("openapi"))  # heed/serve/openapi.json, with the options of decoding
SCHEMAS = FILE["components"]["schemas"]
METHODS = {"get", "post", "put", "delete", "patch", "head", "options"}
OPERATIONS = [(path, method, about) for path, methods in FILE["paths"].items() for method, about in methods.items()]
POSTS = {path: about for path, method, about in OPERATIONS if method == "post"}


def operation_name(value):
    return value if isinstance(value, str) else ""


@pytest.fixture(name="story", scope="module")
def story_model(tmp_path_factory):
    return train_story(tmp_path_factory.mktemp("texts"))


@pytest.fixture(name="server", scope="module")
def served(model, story):
    with Server(model, story) as server:
        yield server


def resolve(part):
    while "$ref" in part:
        names = part["$ref"].removeprefix("#/").split("/")
        part = FILE
        for name in names:
            part = part[name]
    return part


def check(value, schema):
    """Fails where the value is not as the schema says. Only members that it lists may come."""
    wrong = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator({**FILE, **schema}).iter_errors(value))
    assert wrong is None, f"{wrong.json_path}: {wrong.message[:300]}"
    unlisted(value, schema, "")


def unlisted(value, schema, where):
    """Fails at a member that no schema lists: the description is incomplete then."""
    schema = resolve(schema)
    if "oneOf" in schema and "properties" not in schema:
        fitting = [s for s in schema["oneOf"] if jsonschema.Draft202012Validator({**FILE, **s}).is_valid(value)]
        assert fitting, where
        return unlisted(value, fitting[0], where)
    if isinstance(value, dict) and "properties" in schema:
        for name, member in value.items():
            assert name in schema["properties"], f"{where}.{name} is not in openapi.json"
            unlisted(member, schema["properties"][name], f"{where}.{name}")
    if isinstance(value, list) and "items" in schema:
        for i, element in enumerate(value):
            unlisted(element, schema["items"], f"{where}[{i}]")
    return None


def check_answer(answer, path, method):
    """The status is listed, with this type, and the body is as described."""
    listed = FILE["paths"][path][method]["responses"]
    assert str(answer.status) in listed, f"{method} {path} answered {answer.status}: {answer.text}"
    described = resolve(listed[str(answer.status)])
    kind = answer.headers["Content-Type"].partition(";")[0]
    assert kind in described["content"], (path, kind)
    if kind == "application/json":
        check(answer.json, described["content"][kind]["schema"])
    for name in described.get("headers", {}):
        assert answer.headers[name], f"{name} is missing"


# ------------------------------------------------------------------------------------------------------ the file itself

def test_it_is_what_the_server_serves(server):
    assert server.get("/openapi.json").json == FILE


def test_it_is_well_formed():
    assert FILE["openapi"].startswith("3.1.")
    assert {method for _, method, _ in OPERATIONS} <= METHODS
    names = [about["operationId"] for *_, about in OPERATIONS]
    assert len(set(names)) == len(names)
    for schema in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    for reference in re.findall(r'"\$ref": "([^"]+)"', json.dumps(FILE)):
        assert resolve({"$ref": reference})


def test_everything_is_used():
    used = set(re.findall(r"#/components/(\w+/\w+)", json.dumps(FILE)))
    there = {f"{kind}/{name}" for kind in ("schemas", "responses", "headers") for name in FILE["components"][kind]}
    assert there == used


def test_examples_fit():
    for path, method, about in OPERATIONS:
        parts = [about.get("requestBody", {})] + [resolve(response) for response in about["responses"].values()]
        for content in (kind for part in parts for kind in part.get("content", {}).items() if kind[0] == "application/json"):
            for name, example in content[1].get("examples", {}).items():
                try:
                    check(example["value"], content[1]["schema"])
                except AssertionError as wrong:
                    raise AssertionError(f"{method} {path}, example {name}") from wrong


def test_examples_of_the_document_fit():
    page = (SOURCE / "docs" / "serve.md").read_text()
    found = re.findall(r"curl -s localhost:8080(/\S+) -H 'Content-Type: application/json' (?:\\\n +)?-d '([^']+)'", page)
    assert {path for path, _ in found} == set(POSTS)
    for path, body in found:
        check(json.loads(body), request_schema(path))
    for route in FILE["paths"]:
        assert f" {route}`" in page, route


# ------------------------------------------------------------------------------------------------- the server against it

def test_every_route_of_the_server_is_there(server):
    message = server.get("/nothing").json["error"]["message"]
    listed = set(re.findall(r"(GET|POST|PUT|DELETE) (/[\w./]*[\w]|/)", message))
    assert listed == {(method.upper(), path) for path, method, _ in OPERATIONS}


@pytest.mark.parametrize("path, method, about", OPERATIONS, ids=operation_name)
def test_other_methods_are_refused(server, path, method, about):
    for other in METHODS - set(FILE["paths"][path]) - {"head"}:
        answer = server.ask(other.upper(), path)
        assert (answer.status, method.upper() in answer.headers["Allow"]) == (405, True), about["operationId"]
        check_answer_as(answer, "405", about)


def check_answer_as(answer, status, about):
    check(answer.json, resolve(about["responses"][status])["content"]["application/json"]["schema"])


@pytest.mark.parametrize("path", [path for path, method, _ in OPERATIONS if method == "get"])
def test_gets_answer_as_described(server, path):
    check_answer(server.get(path), path, "get")


QUESTIONS = {
    "/v1/predict": [{"input": "a b c"}, {"inputs": ["a b", "", "c"]}, {"input": "a b", "nbest": 3, "scores": True},
                    {"input": "a b", "alignments": "links"}, {"input": "a b", "alignments": "matrix", "nbest": 2},
                    {"input": "a b", "sample": True}, {"inputs": ["a"], "sample": True, "seed": 1},
                    {"input": "a b", "must": "zzz"}, {"input": "a b", "stream": True}, {"input": ""}, {"input": 1}, {}],
    "/v1/score": [{"source": "a b", "target": "b a"}, {"source": "a", "target": "a", "scores": True}, {"target": "b"},
                  {"pairs": [{"source": "a", "target": "b"}, {"source": "", "target": "b"}]}, {"source": "a"}],
    "/v1/attention": [{"input": "a b c"}, {"input": "a b", "target": "b a"}, {"input": "a b", "beam": 3}, {"input": ""},
                      {"input": "a b", "heads": [1], "rows": [1, 1]}, {"input": "a b", "rows": [2, 1]},
                      {"input": "a b", "attentions": ["no.such"]}],
    "/v1/completions": [{"prompt": "the"}, {"prompt": ["the", "a"], "n": 2, "seed": 1}, {"prompt": "the", "logprobs": 1},
                        {"prompt": "the", "stop": ["c"], "echo": True}, {"prompt": "the", "stream": True}, {"prompt": 1}],
}


def model_for(path):
    return "story" if path == "/v1/completions" else "small"


@pytest.mark.parametrize("path, question", [(path, q) for path in POSTS for q in QUESTIONS[path]],
                         ids=lambda value: str(value)[:50])
def test_posts_answer_as_described(server, path, question):
    check_answer(server.post(path, {"model": model_for(path), **question}), path, "post")


@pytest.mark.parametrize("path", POSTS)
def test_errors_of_posts_answer_as_described(server, path):
    for body, headers in ((b"{", {}), (b"{}", {"Content_Type": "text/plain"}), (b"x" * 2_000_000, {}),
                          (b'{"model": "nobody", "input": "a", "prompt": "a", "target": "a"}'
                           if path == "/v1/completions" else
                           json.dumps({"model": "nobody", ("target" if path == "/v1/score" else "input"): "a"}).encode(), {})):
        answer = server.post(path, body, **headers)
        assert answer.status in (400, 404, 413, 415)
        check_answer(answer, path, "post")


# ----------------------------------------------------------------------------------------------------------- the members

def request_schema(path):
    return resolve(POSTS[path]["requestBody"]["content"]["application/json"]["schema"])


BASE = {"/v1/predict": {"input": "a b"}, "/v1/attention": {"input": "a b"}, "/v1/score": {"source": "a", "target": "b"},
        "/v1/completions": {"prompt": "the"}}
WITH = {"temperature": {"sample": True}, "top_k": {"sample": True}, "top_p": {"sample": True}, "seed": {"sample": True},
        "distinct": {"sample": True, "nbest": 2}, "diversity": {"beam": 4, "groups": 2}, "groups": {"beam": 4}}
WITH |= {"do_sample": {"nbest": 1}, "diversity_penalty": WITH["diversity"], "num_beam_groups": WITH["groups"],
         **{f"sampling_{name}": {"sample": True} for name in ("temperature", "topk", "topp")}}
INSTEAD = {"inputs": "input", "pairs": "target"}
VALUES = {"model": None, "input": "a b", "inputs": ["a", "b"], "target": "b", "source": "a", "prompt": "the",
          "pairs": [{"source": "a", "target": "b"}], "must": ["a"], "must_not": "c", "prefix": "a", "prompts": "the",
          "stop": ["x"], "num_beam_groups": 2, "logprobs": 1, "seed": 3, "groups": 2, "alignments": "links", "layer": 1, "head": 1,
          "attentions": ["decoder.attention"], "heads": [1], "rows": [1, 2]}
ONLY_SOME_MODELS = {"iterations", "lengths", "length", "length_factor", "stride"}  # those that write all positions at once, or running text


def value_for(name, member):
    if name in VALUES:
        return VALUES[name]
    if member.get("type") == "boolean":
        return True
    return member.get("default", 1) or 1


MEMBERS = [(path, name) for path in POSTS for name in request_schema(path)["properties"]]


@pytest.mark.parametrize("path, name", MEMBERS)
def test_every_member_is_accepted(server, path, name):
    body = {"model": model_for(path), **BASE[path], **(WITH.get(name, {}) if path != "/v1/completions" else {})}
    if name in INSTEAD:
        body = {"model": model_for(path)}
    if name != "model":
        body[name] = value_for(name, request_schema(path)["properties"][name])
    answer = server.post(path, body)
    if name in ONLY_SOME_MODELS:
        assert answer.status in (200, 400) and (answer.status == 200 or answer.code == "input"), answer.text
    else:
        assert answer.status == 200, (body, answer.text)


@pytest.mark.parametrize("path, name", [(path, name) for path, name in MEMBERS if name != "logprobs"])
def test_every_member_has_a_type(server, path, name):
    """An object is never right, and the message names the member."""
    body = {"model": model_for(path), **BASE[path], **(WITH.get(name, {}) if path != "/v1/completions" else {})}
    answer = server.post(path, {**body, name: {"no": "object"}})
    assert (answer.status, answer.code) == (400, "bad_member"), answer.text
    assert f'"{name}"' in answer.json["error"]["message"]


@pytest.mark.parametrize("path, name", MEMBERS)
def test_every_range_is_that_of_the_server(server, path, name):
    member = request_schema(path)["properties"][name]
    if member.get("type") not in ("integer", "number"):
        return
    whole = member["type"] == "integer"
    body = {"model": model_for(path), **BASE[path], **(WITH.get(name, {}) if path != "/v1/completions" else {})}
    below = member["minimum"] - 1 if whole else member["minimum"] - 1e-3
    assert server.post(path, {**body, name: below}).code == "bad_member", f"{name} may be {below}"
    if "maximum" in member and member["maximum"] < 2**63:
        above = member["maximum"] + 1 if whole else member["maximum"] * 1.001
        assert server.post(path, {**body, name: above}).code in ("bad_member", "beam_too_wide"), f"{name} may be {above}"
    least = server.post(path, {**body, name: member["minimum"]})
    assert least.status == 200 or least.code == "input", f"{name} may not be {member['minimum']}: {least.text}"
    assert f"from {member['minimum']}" in message_for(server, path, {**body, name: below}) or not whole


def message_for(server, path, body):
    return server.post(path, body).json["error"]["message"] + " from 0"  # a seed has no range to name


@pytest.mark.parametrize("path", [path for path in POSTS if path != "/v1/completions"])
def test_members_that_are_not_listed_are_refused(server, path):
    assert request_schema(path)["additionalProperties"] is False
    everything = {name for schema in map(request_schema, POSTS) for name in schema["properties"]} | {"nothing"}
    for name in everything - set(request_schema(path)["properties"]):
        answer = server.post(path, {"model": "small", **BASE[path], name: 1})
        assert (answer.status, answer.code) == (400, "unknown_member"), (name, answer.text)
