from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from proband import Problem, Test
from proband.errors import ProblemError, ProblemFileError, StateError
from proband.rewards import Entropy, Piece, Projection, Score

TESTS = [Test("a", 1.0, outcomes=None, unit="mm"), Test("b", 2.0, outcomes=None)]
ONE = [Score("z", {"a": 1.0, "b": -2.0}, 0.5)]
TWO = [Score("z", {"a": 1.0}), Score("w", {"b": 1.0}, unit="kg")]


def random_projection(rng: np.random.Generator, scores: list[Score]) -> Projection:
    pieces = []
    for _ in range(int(rng.integers(1, 7))):
        when, slope, at = {}, {}, {}
        for score in scores:
            low, high = sorted(rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], size=2, replace=False))
            if rng.random() < 0.7:
                when[score.name] = (None if rng.random() < 0.3 else low, None if rng.random() < 0.3 else high)
            if rng.random() < 0.5:
                slope[score.name], at[score.name] = float(rng.normal()), float(rng.normal())
        pieces.append(Piece(str(rng.choice(["yes", "no"])), float(rng.normal()), when, slope, at))
    return Projection(scores, pieces)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("scores", [ONE, TWO])
def test_cells_are_the_pieces(seed: int, scores: list[Score]) -> None:
    rng = np.random.default_rng(seed)
    reward = random_projection(rng, scores)
    problem = Problem(TESTS, ["yes", "no"], reward)
    rows = np.vstack([rng.normal(size=(200, 2)) * 2, rng.integers(-3, 4, size=(50, 2)).astype(float)])
    z = rows @ reward.matrix(TESTS).T + reward.offsets
    knots, intercepts, slopes = reward.cells(problem.decisions)
    where = tuple(np.searchsorted(each, column, side="right") for each, column in zip(knots, z.T, strict=True))
    expected = intercepts[(slice(None), *where)].T + np.einsum("ynk,nk->ny", slopes[(slice(None), *where)], z)
    assert problem.payoff(rows) == pytest.approx(expected, abs=1e-12)
    if len(scores) == 1:
        assert reward.line(problem.decisions)(z[:, 0]) == pytest.approx(expected, abs=1e-12)
    chosen = problem.d + rng.integers(0, 2, size=len(rows))
    assert problem.realised(rows, chosen) == pytest.approx(expected[np.arange(len(rows)), chosen - 2])


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("scores", [ONE, TWO])
def test_a_projection_survives_its_file(seed: int, scores: list[Score], tmp_path: Path) -> None:
    problem = Problem(TESTS, ["yes", "no"], random_projection(np.random.default_rng(seed), scores), unit="EUR")
    problem.save(tmp_path / "p.toml")
    assert Problem.load(tmp_path / "p.toml") == problem


def test_an_entropy_problem_survives_its_file(tmp_path: Path) -> None:
    problem = Problem(TESTS, ["stop"], Entropy(2.5))
    problem.save(tmp_path / "p.toml")
    assert Problem.load(tmp_path / "p.toml") == problem
    text = (tmp_path / "p.toml").read_text().replace('decisions = ["stop"]\n', "")
    (tmp_path / "p.toml").write_text(text)
    assert Problem.load(tmp_path / "p.toml").decisions == ("stop",)


PIECE = Piece("yes", 1.0)
BROKEN = {
    "no score": (lambda: Projection([], [PIECE]), "one or two"),
    "three scores": (lambda: Projection([Score(n, {"a": 1}) for n in "xyz"], [PIECE]), "one or two"),
    "twice the name": (lambda: Projection([ONE[0], ONE[0]], [PIECE]), "different names"),
    "no pieces": (lambda: Projection(ONE, []), "no pieces"),
    "unknown score": (lambda: Projection(ONE, [Piece("yes", 1.0, when={"q": (0, 1)})]), "are no scores"),
    "no weight": (lambda: Score("z", {"a": 0.0}), "at least one must differ from 0"),
    "infinite weight": (lambda: Score("z", {"a": math.inf}), "must be finite"),
    "text as weight": (lambda: Score("z", {"a": "1"}), "must be a number"),  # type: ignore[dict-item]
    "empty name": (lambda: Score(" ", {"a": 1.0}), "non-empty"),
    "value of nothing": (lambda: Piece("yes", math.nan), "must be finite"),
    "limits reversed": (lambda: Piece("yes", 1.0, when={"z": (1, 0)}), "low must be below high"),
    "limits equal": (lambda: Piece("yes", 1.0, when={"z": (1, 1)}), "low must be below high"),
    "three limits": (lambda: Piece("yes", 1.0, when={"z": (1, 2, 3)}), "must be \\[low, high\\]"),  # type: ignore[dict-item]
    "unknown test": (
        lambda: Problem(TESTS, ["yes"], Projection([Score("z", {"q": 1.0})], [PIECE])),
        "weighs \\['q'\\]",
    ),
    "unknown decision": (
        lambda: Problem(TESTS, ["no"], Projection(ONE, [PIECE])),
        "pieces are of the decisions \\['yes'\\]",
    ),
    "no decisions": (lambda: Problem(TESTS, (), Projection(ONE, [PIECE])), "decisions are missing"),
    "listed tests": (
        lambda: Problem([Test("a", 1.0), Test("b", 1.0)], ["yes"], Projection(ONE, [PIECE])),
        "list outcomes",
    ),
    "mixed tests": (lambda: Problem([TESTS[0], Test("c", 1.0)], ["yes"], lambda x, y: x[:, 0]), "of one kind"),
    "negative scale": (lambda: Entropy(-1.0), "above 0"),
    "no scale": (lambda: Entropy(math.nan), "above 0"),
    "entropy of listed tests": (lambda: Problem([Test("a", 1.0)], ["stop"], Entropy()), "list outcomes"),
    "entropy with decisions": (lambda: Problem(TESTS, ["yes", "no"], Entropy()), "nothing to decide but to stop"),
    "entropy with context": (
        lambda: Problem([Test("a", outcomes=None, on_arrival=True)], ["stop"], Entropy()),
        "known on arrival or unavailable",
    ),
    "unit of listed outcomes": (lambda: Test("a", 1.0, unit="mm"), "belongs to a measured test"),
    "reward of a row": (lambda: Problem(TESTS, ["stop"], Entropy()).payoff(np.zeros((1, 2))), "no single subject"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_breaks_a_rule_is_answered(kind: str) -> None:
    make, fragment = BROKEN[kind]
    with pytest.raises(ProblemError, match=fragment):
        make()


def document(reward: str, tests: str = "") -> str:
    tests = tests or '[[tests]]\nname = "a"\ncost = 1\nmeasured = true\nunit = "mm"\n'
    return f'schema = 1\ndecisions = ["yes", "no"]\n{tests}\n[reward]\n{reward}'


SCORES = 'kind = "projection"\n[[reward.scores]]\nname = "z"\nweights = { a = 1.0 }\n'
FILES = {
    "no scores": (
        'kind = "projection"\n[[reward.pieces]]\ndecision = "yes"',
        "reward.scores",
        "write [[reward.scores]]",
    ),
    "no pieces": (SCORES, "reward.pieces", "write [[reward.pieces]]"),
    "unknown field": (f"{SCORES}[[reward.pieces]]\ndecision = 'yes'\nworth = 1", "reward.pieces[0].worth", "no such"),
    "no decision": (f"{SCORES}[[reward.pieces]]\nvalue = 1", "reward.pieces[0].decision", "missing"),
    "wrong decision": (f"{SCORES}[[reward.pieces]]\ndecision = 'q'", "reward.pieces[0].decision", "decisions are yes"),
    "wrong score": (
        f"{SCORES}[[reward.pieces]]\ndecision = 'yes'\nwhen = {{ q = [0, 1] }}",
        "reward.pieces[0].when.q",
        "not a score",
    ),
    "wrong limits": (
        f"{SCORES}[[reward.pieces]]\ndecision = 'yes'\nwhen = {{ z = [1, 0] }}",
        "reward.pieces[0]",
        "low must be below high",
    ),
    "wrong test": (
        f"{SCORES.replace('a = 1.0', 'b = 1.0')}[[reward.pieces]]\ndecision = 'yes'",
        "reward.scores[0].weights.b",
        "not a test",
    ),
    "field of another kind": ('kind = "projection"\nscale = 1.0', "reward.scale", 'use kind = "entropy"'),
    "entropy with negative scale": ('kind = "entropy"\nscale = -2', "reward", "above 0"),
}


@pytest.mark.parametrize("kind", FILES)
def test_bad_files(kind: str, tmp_path: Path) -> None:
    reward, key, fragment = FILES[kind]
    path = tmp_path / "p.toml"
    path.write_text(document(reward))
    with pytest.raises(ProblemFileError) as caught:
        Problem.load(path)
    assert str(caught.value).startswith(f"{path}: {key}: ")
    assert fragment in str(caught.value)
    assert len(caught.value.mistakes) == 1


def test_mistakes_of_scores_and_pieces_are_told_at_once(tmp_path: Path) -> None:
    pieces = "[[reward.pieces]]\ndecision = 'perhaps'\nslope = { y = 1 }\n[[reward.pieces]]\nworth = 1\n"
    (tmp_path / "p.toml").write_text(document(SCORES.replace("a = 1.0", "b = 1.0") + pieces))
    with pytest.raises(ProblemFileError) as caught:
        Problem.load(tmp_path / "p.toml")
    assert [line.partition(": ")[0] for line in str(caught.value).splitlines()[1:]] == [
        "  reward.scores[0].weights.b", "  reward.pieces[0].slope.y", "  reward.pieces[0].decision",
        "  reward.pieces[1].worth",
    ]  # fmt: skip


def test_a_measured_test_lists_no_outcomes(tmp_path: Path) -> None:
    tests = '[[tests]]\nname = "a"\ncost = 1\nmeasured = true\noutcomes = ["x"]\n'
    (tmp_path / "p.toml").write_text(document(f"{SCORES}[[reward.pieces]]\ndecision = 'yes'", tests))
    with pytest.raises(ProblemFileError, match=r"tests\[0\]\.outcomes: a measured test lists no outcomes"):
        Problem.load(tmp_path / "p.toml")


def test_states_by_name() -> None:
    problem = Problem(TESTS, ["yes"], Projection(ONE, [PIECE]))
    state = problem.state({"a": 9.5})
    assert state[0] == 9.5
    assert problem.describe(state) == {"a": 9.5}
    assert problem.state({"a": "9.5"})[0] == 9.5
    for wrong in ("wide", math.inf, math.nan, ""):
        with pytest.raises(StateError, match="finite number of mm"):
            problem.state({"a": wrong})
    with pytest.raises(StateError, match="a measurement is a finite number"):
        problem.states([math.inf, 0.0])
    with pytest.raises(ProblemError, match="is measured; here a list of outcomes is needed"):
        _ = problem.k
