"""The examples of docs/python-frameworks.md, each section where its framework is installed."""

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "python-frameworks.md"
FRAMEWORKS = {"PyTorch": ("torch",), "JAX": ("jax", "flatbuffers")}


def sections():
    """Headings with examples below them, and the text from there to the next heading."""
    _, *parts = re.split("^## (.*)$", PAGE.read_text(), flags=re.MULTILINE)
    return {name: text for name, text in zip(parts[::2], parts[1::2]) if ">>>" in text}


def test_every_section_with_examples_is_run():
    assert set(sections()) == set(FRAMEWORKS)


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_examples_give_what_the_page_shows(name):
    for module in FRAMEWORKS[name]:
        pytest.importorskip(module, reason=f"{module} is not installed, so the examples of {name} did not run")
    examples = doctest.DocTestParser().get_doctest(sections()[name], {}, name, str(PAGE), 0)
    assert examples.examples
    said = []
    doctest.DocTestRunner(optionflags=doctest.FAIL_FAST).run(examples, out=said.append)
    assert not said, "".join(said)
