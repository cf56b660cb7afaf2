"""heed serve: /v1/completions as OpenAI's clients call it."""
import json

import pytest
from heed_program import run
from heed_server import Server
from story_model import train_story


@pytest.fixture(name="story", scope="module")
def story_model(tmp_path_factory):
    return train_story(tmp_path_factory.mktemp("texts"), "stop.steps=150")


@pytest.fixture(name="server", scope="module")
def served(story):
    with Server(story) as server:
        yield server


def complete(server, **members):
    answer = server.post("/v1/completions", {"model": "story", "temperature": 0, "max_tokens": 12, **members})
    assert answer.status == 200, answer.text
    return answer.json


def test_a_completion(server, story):
    said = complete(server, prompt="the cat sat")
    expected = run("predict", story, "--max-length", 12, "--json", given=b"the cat sat\n").stdout
    assert set(said) == {"id", "object", "created", "model", "choices", "usage"}
    assert said["id"].startswith("cmpl-") and said["object"] == "text_completion" and said["model"] == "story"
    assert said["created"] > 1_600_000_000
    choice, = said["choices"]
    assert choice["text"] == json.loads(expected)["output"]
    assert choice["index"] == 0 and choice["logprobs"] is None and choice["finish_reason"] in ("stop", "length")
    usage = said["usage"]
    assert usage["prompt_tokens"] == len("the cat sat")
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert 0 < usage["completion_tokens"] <= 12


def test_the_reason_for_the_end(server):
    assert complete(server, prompt="the cat", max_tokens=3)["choices"][0]["finish_reason"] == "length"
    text = complete(server, prompt="the cat")["choices"][0]["text"]
    stopped = complete(server, prompt="the cat", stop=text[4])["choices"][0]
    assert (stopped["text"], stopped["finish_reason"]) == (text[:text.index(text[4])], "stop")
    several = complete(server, prompt="the cat", stop=["never there", text[2:6]])["choices"][0]
    assert several["text"] == text[:text.index(text[2:6])]


def test_what_a_stop_cuts_away_is_not_counted(server):
    """The story has characters for tokens."""
    text = complete(server, prompt="the cat")["choices"][0]["text"]
    for stop in (text[0], text[4], text[2:6]):
        said = complete(server, prompt="the cat", stop=stop, logprobs=1)
        kept = text[:text.index(stop)]
        choice, found = said["choices"][0], said["choices"][0]["logprobs"]
        assert (choice["text"], "".join(found["tokens"]), len(found["token_logprobs"])) == (kept, kept, len(kept))
        assert said["usage"]["completion_tokens"] == len(kept)
        assert said["usage"]["total_tokens"] == len("the cat") + len(kept)


def test_several_prompts_and_choices(server):
    both = complete(server, prompt=["the cat", "a dog"])["choices"]
    assert [c["index"] for c in both] == [0, 1]
    assert [c["text"] for c in both] == [complete(server, prompt=p)["choices"][0]["text"] for p in ("the cat", "a dog")]
    drawn = complete(server, prompt=["the cat", "a dog"], n=3, temperature=1.5, seed=3)["choices"]
    assert [c["index"] for c in drawn] == list(range(6))
    assert len({c["text"] for c in drawn}) > 1


def test_seeds_and_temperatures(server):
    def drawn(**members):
        return complete(server, prompt="the", temperature=1.5, max_tokens=30, **members)["choices"][0]["text"]
    assert drawn(seed=5) == drawn(seed=5)
    assert len({drawn(seed=n) for n in range(6)}) > 1
    assert len({drawn(top_p=1e-9, seed=n) for n in range(6)}) == 1


def test_the_default_length_is_that_of_openai(server):
    said = server.post("/v1/completions", {"model": "story", "prompt": "the", "temperature": 0}).json
    assert said["usage"]["completion_tokens"] <= 16


def test_echo_and_logprobs(server):
    plain = complete(server, prompt="the cat")["choices"][0]
    said = complete(server, prompt="the cat", echo=True, logprobs=1)["choices"][0]
    assert said["text"] == "the cat" + plain["text"]
    log_probabilities = said["logprobs"]
    assert len(log_probabilities["tokens"]) == len(log_probabilities["token_logprobs"]) > 0
    assert all(value <= 0 for value in log_probabilities["token_logprobs"])


def test_members_without_a_meaning_are_ignored(server):
    complete(server, prompt="the cat", user="me", presence_penalty=0.5, frequency_penalty=0, suffix=None, logit_bias={})


def test_a_stream(server):
    whole = complete(server, prompt="the cat")
    answer = server.post("/v1/completions", {"model": "story", "prompt": "the cat", "temperature": 0, "max_tokens": 12,
                                             "stream": True})
    *chunks, done = answer.events
    assert done == "[DONE]"
    chunks = [json.loads(chunk) for chunk in chunks]
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert all(chunk["object"] == "text_completion" and len(chunk["choices"]) == 1 for chunk in chunks)
    assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == whole["choices"][0]["text"]
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in chunks]
    assert reasons == [None] * (len(chunks) - 1) + [whole["choices"][0]["finish_reason"]]
    assert len(chunks) > 2, "it came all at once"


@pytest.mark.parametrize("length", [1, 2, 4])
def test_a_stream_stops_where_it_should(server, length):
    """Also where the stop arrives in parts: nothing of it may be shown."""
    text = complete(server, prompt="the cat")["choices"][0]["text"]
    stop = text[3:3 + length]
    answer = server.post("/v1/completions", {"model": "story", "prompt": "the cat", "temperature": 0, "max_tokens": 12,
                                             "stream": True, "stop": [stop], "echo": True})
    chunks = [json.loads(event) for event in answer.events[:-1]]
    assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == "the cat" + text[:text.index(stop)]
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


def test_predict_shows_the_same(server):
    said = server.post("/v1/predict", {"input": "the cat", "max_length": 12}).json
    assert said["output"] == complete(server, prompt="the cat")["choices"][0]["text"]
