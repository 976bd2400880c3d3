"""The documentation site leaves nothing out: every page is in it, and every public thing has a page."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import typer

from proband.agents import AGENTS
from proband.cli.app import app
from proband.errors import CODES
from proband.estimators import ESTIMATORS
from proband.experiments import EXPERIMENTS
from proband.instances import PACKAGED
from proband.planners import PLANNERS
from proband.studies.stores.registry import STORES

DOCS = Path(__file__).parents[1] / "docs"
INDEX = (DOCS / "index.md").read_text(encoding="utf-8")
PUBLIC = sorted(
    ".".join(path.parent.relative_to(DOCS.parent / "src").parts)
    for path in (DOCS.parent / "src" / "proband").rglob("__init__.py")
    if re.search(r"^__all__ = ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
)


@pytest.fixture(scope="module")
def reference() -> Iterator[ModuleType]:
    """What makes the pages of the reference."""
    sys.path.insert(0, str(DOCS))
    yield importlib.import_module("reference_pages")
    sys.path.remove(str(DOCS))


@pytest.fixture(scope="module")
def pages(reference: ModuleType) -> dict[str, str]:
    return dict(reference.pages())


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def test_every_page_is_in_the_site() -> None:
    listed = set(re.findall(r"^([a-z-]+(?:/[a-z-]+)?)$", INDEX, flags=re.MULTILINE))
    written = [*DOCS.glob("*.md"), *(DOCS / "guides").glob("*.md"), *(DOCS / "howto").glob("*.md")]
    made = {"gallery/index", "reference/index"}
    assert listed - made == {path.relative_to(DOCS).with_suffix("").as_posix() for path in written} - {"index"}


def test_the_tutorial_comes_first() -> None:
    assert re.findall(r"^```\{toctree\}\n(?::.*\n)*\n(.*)$", INDEX, flags=re.MULTILINE)[0] == "spreadsheets"


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_name_has_its_place(package: str, pages: dict[str, str]) -> None:
    for name in importlib.import_module(package).__all__:
        assert re.search(rf"^:+\{{py:\w+\}} {name}\b", pages[package], flags=re.MULTILINE), f"{package}.{name}"


def test_what_is_offered_twice_is_told_once(pages: dict[str, str]) -> None:
    assert "py:function} plan(" in pages["proband"]
    assert "Told at {py:obj}`proband.plan`." in pages["proband.planners"]


@pytest.mark.parametrize(
    ("package", "entry", "method"),
    [
        ("proband", "Problem", "states"),
        ("proband.sklearn", "SequentialTestClassifier", "predict_proba"),
        ("proband.estimators", "CompleteCases", "update"),
    ],
)
def test_what_comes_from_a_base_without_a_page_is_told_with_the_class(
    package: str, entry: str, method: str, pages: dict[str, str]
) -> None:
    assert method not in vars(getattr(importlib.import_module(package), entry))
    [told] = re.findall(rf"^(:+){{py:class}} {entry}\((.*?)^\1$", pages[package], flags=re.MULTILINE | re.DOTALL)
    assert f"{{py:method}} {method}(" in told[1]


def test_every_error_has_its_place(pages: dict[str, str]) -> None:
    assert [e.__name__ for e in CODES if f"{{py:exception}} {e.__name__}(" not in pages["proband.errors"]] == []


def test_docstrings_become_pages(reference: ModuleType, pages: dict[str, str]) -> None:
    docstrings = importlib.import_module("docstrings")
    text = """Return x_i * 2.

    Parameters
    ----------
    x : float, default 1
        Any ``number``, see :class:`~proband.Plan`.

    Notes
    -----
        x = 1

    .. math:: x^2
    """
    assert docstrings.markdown(text) == [
        *("Return x\\_i \\* 2.", "", "**Parameters**", ""),
        *("- `x` (float, default 1): Any `number`, see {py:obj}`~proband.Plan`.", "", "**Notes**", ""),
        *("~~~text", "x = 1", "~~~", "", "~~~{math}", "x^2", "~~~", ""),
    ]


def test_the_bars_of_an_absolute_value_belong_together(reference: ModuleType) -> None:
    formula = importlib.import_module("mathematics").formula
    bars = re.findall(r"<mo[^>]*>\|</mo>", formula(r"\max \lvert f \rvert"))
    assert bars == ['<mo form="prefix" stretchy="false">|</mo>', '<mo form="postfix" stretchy="false">|</mo>']


def test_stressed_words_are_stressed_and_stars_are_stars(reference: ModuleType) -> None:
    docstrings = importlib.import_module("docstrings")
    told = docstrings.inline("The *trunk*, *seen before*; the best set S* beats (S*, S'), and 2 * 3 * 4")
    assert told == "The *trunk*, *seen before*; the best set S\\* beats (S\\*, S'), and 2 \\* 3 \\* 4"


def test_no_name_of_the_reference_is_left_without_a_word(pages: dict[str, str]) -> None:
    entry = re.compile(r"^(:{4,6})\{py:\w+\} (.*)\n((?::.*\n)*)\n((?:.*\n)*?)\1\n", flags=re.MULTILINE)
    found = [(name, *each.groups()[1:]) for name, text in pages.items() for each in entry.finditer(text)]
    assert len(found) > 300
    assert [(name, told) for name, told, options, body in found if not body.strip() and ":value:" not in options] == []


def test_long_names_may_break_in_tables_and_titles_and_nowhere_else(reference: ModuleType) -> None:
    breaking = importlib.import_module("breaking")
    names = '<span class="pre">proband.agents.Doubling</span> <span class="pre">plan.error</span>'
    broken = names.replace("proband.agents.", "proband.<wbr>agents.<wbr>")
    assert breaking.breakable(f"<p>{names}</p><td>{names}</td>") == f"<p>{names}</p><td>{broken}</td>"
    assert breaking.breakable(f"<h1>{names}</h1>") == f"<h1>{broken}</h1>"


@pytest.mark.parametrize(
    ("names", "where"),
    [
        (AGENTS, "agents"),
        (PLANNERS, "command-line"),
        (ESTIMATORS, "estimators"),
        (EXPERIMENTS, "command-line"),
        (PACKAGED, "problem-files"),
        ([f"{scheme}:" for scheme in STORES], "studies"),
    ],
    ids=["agents", "planners", "estimators", "experiments", "examples", "stores"],
)
def test_everything_that_has_a_name_is_told_of(names: list[str], where: str) -> None:
    text = page(where)
    assert [name for name in names if f"`{name}" not in text] == []


def commands(group: object, before: str = "") -> Iterator[tuple[str, list[str]]]:
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield before + name, [each for one in command.params for each in one.opts if each.startswith("--")]


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_is_told_of(name: str) -> None:
    parts = re.split(r"^##+ ", page("command-line"), flags=re.MULTILINE)
    own = [part for part in parts if part.startswith(f"`proband {name}`\n")]
    assert own, f"docs/command-line.md has no section on proband {name}"
    group = [part for part in parts if part.startswith(f"`proband {name.split(maxsplit=1)[0]}`\n")]
    told = own[0] + "".join(group)
    assert [option for option in COMMANDS[name] if option not in told and option != "--help"] == []


@pytest.mark.parametrize("word", ["Regret", "Law", "Support", "Horizon", "Coin", "Leaf"])
def test_the_glossary_has_the_word(word: str) -> None:
    assert re.search(rf"^(?:.*, )?{word}(?:,.*)?\n: ", page("glossary"), flags=re.MULTILINE)


def test_nothing_comes_from_elsewhere() -> None:
    """Pictures lie beside the pages; what pages are made of is looked at in a browser (make test-site)."""
    for path in DOCS.rglob("*.md"):
        assert not re.search(r"!\[[^]]*\]\(https?:", path.read_text(encoding="utf-8")), path
