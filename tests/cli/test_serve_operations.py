"""heed serve for those who run it: draining, reloading, watching a training, several models, what the process tells."""
import concurrent.futures
import contextlib
import shutil
import signal
import time

from heed_server import Server, metrics, until

INPUTS = ["abcd", "efg", "hhhij", "k", "badcefghi"]


def test_draining(model):
    """After SIGTERM it is not ready any more, but takes requests for a while."""
    server = Server(model, "--drain", "3", "--grace", "5")
    assert server.get("/readyz").status == 200
    server.send(signal.SIGTERM)
    begin = time.monotonic()
    until(lambda: server.get("/readyz").status == 503)
    answers = 0
    with contextlib.suppress(OSError):
        while True:
            assert server.ask("POST", "/v1/predict", {"input": "abcd"}).status == 200
            answers += 1
            time.sleep(0.05)
    assert answers > 10 and time.monotonic() - begin > 2
    assert server.process.wait(20) == 0


def test_better_checkpoints_are_taken(model, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(model, folder)
    first, = [path for path in folder.iterdir() if path.name.startswith("step-")][:1]
    with Server(f"run={folder}", "--watch", "0.2") as server:
        assert 'heed_model_version{model="run"} 1' in server.get("/metrics").text
        time.sleep(1)  # nothing changes
        assert 'heed_model_version{model="run"} 1' in server.get("/metrics").text
        shutil.copytree(first, folder / "step-999999")
        (folder / "best.txt").write_text("step-999999\n")
        until(lambda: 'heed_model_version{model="run"} 2' in server.get("/metrics").text)
        assert server.ask("POST", "/v1/predict", {"input": "abcd"}).status == 200


def test_models_that_wait_together_answer_for_themselves(model, placed):
    """What waits is answered together only if it asks the same model."""
    with Server(f"a={model}", f"b={placed}", "--threads", "1") as server:
        asked = [{"model": name, "input": text} for text in INPUTS * 6 for name in "ab"]
        alone = {(one["model"], one["input"]): server.ask("POST", "/v1/predict", one).json for one in asked}
        assert any(alone["a", text]["output"] != alone["b", text]["output"] for text in INPUTS)
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            said = list(pool.map(lambda one: server.ask("POST", "/v1/predict", one).json, asked))
        assert said == [alone[one["model"], one["input"]] for one in asked]
        assert metrics(server)["heed_batches_total"] < 2 * len(asked), "some of them waited together"


def test_a_reload_is_one_version(model):
    with Server(f"first={model}", f"second={model}") as server:
        server.send(signal.SIGHUP)
        until(lambda: "heed_reloads_total 1" in server.get("/metrics").text)
        text = server.get("/metrics").text
        assert [f'heed_model_version{{model="{name}"}} 2' in text for name in ("first", "second")] == [True, True]


def test_the_process_tells_about_itself(model):
    with Server(model) as server:
        lines = server.get("/metrics").text.splitlines()
    found = dict(line.split() for line in lines if line.startswith("process_"))
    assert {"process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds", "process_max_fds",
            "process_start_time_seconds", "process_virtual_memory_bytes"} == set(found)
    assert abs(time.time() - float(found["process_start_time_seconds"])) < 3600
    assert 1e6 < float(found["process_resident_memory_bytes"]) < 1e10 and 3 < int(found["process_open_fds"]) < 1000
