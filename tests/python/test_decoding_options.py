"""predict()'s keywords are those of the library's list, with the names of other programs."""
import inspect
import os
import pathlib
import subprocess
import sys

import heed
import pytest

SOURCE = pathlib.Path(__file__).parents[2]


def test_the_signature_has_every_option():
    parameters = inspect.signature(heed.TrainedModel.predict).parameters
    names = {option["name"] for option in heed._decoding.OPTIONS}
    assert names < set(parameters) and len(names) > 20
    assert parameters["diversity"].default == 0.5 and parameters["beam"].default is None
    for name in names:
        assert f"            {name}: " in heed.TrainedModel.predict.__doc__


@pytest.fixture(name="model", scope="module")
def loaded(folder):
    if folder is None:
        pytest.skip("the program was not built")
    return heed.load(folder)


def test_other_programs_names(model):
    lines = ["a b c", "c b"]
    ours = model.predict(lines, beam=3, nbest=2, no_repeat_ngram=3, max_length=9)
    theirs = model.predict(lines, num_beams=3, num_return_sequences=2, no_repeat_ngram_size=3, max_new_tokens=9)
    ct2 = model.predict(lines, beam_size=3, num_hypotheses=2, no_repeat_ngram_size=3, max_decoding_length=9)
    for a, b, c in zip(ours, theirs, ct2):
        assert a.text == b.text == c.text and a.score == b.score == c.score


def test_the_same_option_twice_is_refused(model):
    with pytest.raises(heed.Error, match="beam was given twice, once as num_beams"):
        model.predict("a", beam=2, num_beams=2)


def test_what_is_written_from_the_list_is_up_to_date():
    done = subprocess.run([sys.executable, SOURCE / "scripts" / "write_decoding_options.py", SOURCE, "--check"],
                          capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stdout + done.stderr
