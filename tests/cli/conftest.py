"""Models that the tests of a file share: each is trained once, in a second."""
import pytest
from heed_program import train_small


@pytest.fixture(name="model", scope="session")
def small_model(tmp_path_factory):
    return train_small(tmp_path_factory.mktemp("models") / "small")


@pytest.fixture(name="placed", scope="session")
def model_with_places(tmp_path_factory):
    """A Transformer that has places for 40 tokens, and no more."""
    return train_small(tmp_path_factory.mktemp("models") / "placed", "model.kind=transformer",
                       "model.positions=learned", "model.max_length=40", "attention.score=dot", "stop.steps=3")


@pytest.fixture(name="damaged", scope="session")
def damaged_model(tmp_path_factory):
    """One checkpoint, of which a byte was changed."""
    folder = train_small(tmp_path_factory.mktemp("models") / "damaged", "stop.steps=2")
    with open(folder / "step-000002" / "weights.safetensors", "r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)
        file.seek(-1, 2)
        file.write(bytes([last[0] ^ 1]))
    return folder
