"""A training that nothing disturbed: what all the others must come to."""
import default_signals  # noqa: F401 pylint: disable=unused-import
import pytest
from faulty import RECIPE, answered, train


@pytest.fixture(name="recipe", scope="session")
def small_recipe(tmp_path_factory):
    path = tmp_path_factory.mktemp("recipe") / "small.toml"
    path.write_text(RECIPE)
    return path


@pytest.fixture(name="whole", scope="session")
def whole_training(recipe, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "out"
    answered(train(recipe, out), 0)
    return out
