"""Published made-up data: the least possible acquisitions, the streams, and what is hidden where."""

from __future__ import annotations

import numpy as np
import pytest

from proband.errors import UnknownNameError
from proband.instances.published import codes, cube, cube_nm, syn, syn_logits


@pytest.mark.parametrize(("rule", "below", "above", "least"), [(1, 3, 5, 3.9958), (2, 3, 5, 4.0032), (3, 5, 5, 5.0)])
def test_the_least_possible_acquisitions_are_those_that_were_published(
    rule: int, below: int, above: int, least: float
) -> None:
    subjects = syn(rule)
    test = slice(70_000, None)
    share = (subjects.features[test, 10] < 0).mean()  # two, or four features beside x11
    assert share * below + (1 - share) * above == pytest.approx(least, abs=5e-5)
    assert subjects.needed[test].sum(axis=1).mean() == pytest.approx(least, abs=5e-5)


def test_one_stream_makes_the_rules_one_after_the_other() -> None:
    stream = np.random.RandomState(8139)
    for rule in (1, 2, 3):
        x = stream.normal(0, 1, (500, 11))
        y = stream.binomial(1, 1 / (1 + np.exp(syn_logits(rule, x))))
        made = syn(rule, size=500)
        assert (made.features == x).all()
        assert (made.labels == y).all()


def test_logits_by_hand() -> None:
    x = np.array([[2.0, 0.5, 1.0, 1.0, 1.0, 1.0, 0.0, -1.0, 0.5, 0.0, side] for side in (-1.0, 1.0)])
    s1, s2, s3 = 4.0, 1.2 * 4 - 4.2, 1 + 0.5 + 1 - 2.4
    assert syn_logits(1, x) == pytest.approx([s1, s2])
    assert syn_logits(2, x) == pytest.approx([s1, s3])
    assert syn_logits(3, x) == pytest.approx([s2, s3])
    with pytest.raises(UnknownNameError, match="rule 4 does not exist"):
        syn(4)


def test_a_cube_hides_its_code_where_its_class_says() -> None:
    subjects = cube(np.random.default_rng(1), 20_000)
    for y in range(8):
        means = subjects.features[subjects.labels == y].mean(axis=0)
        expected = np.full(20, 0.5)
        expected[y : y + 3] = [int(bit) for bit in f"{y:03b}"[::-1]]
        assert means == pytest.approx(expected, abs=0.04)
    assert subjects.features.std(axis=0)[13] == pytest.approx(0.3, abs=0.01)
    assert len(np.unique(codes(), axis=0)) == 8


def test_the_context_says_where_to_look_and_nothing_of_the_class() -> None:
    subjects = cube_nm(np.random.default_rng(2), 20_000)
    context = subjects.features[:, :5].argmax(axis=1)
    for c in range(5):
        here = context == c
        assert np.bincount(subjects.labels[here], minlength=8) / here.sum() == pytest.approx(0.125, abs=0.025)
        own = subjects.features[here & (subjects.labels == 7)].mean(axis=0)
        expected = np.full(55, 0.5)
        expected[:5] = np.arange(5) == c
        expected[5 + 10 * c + 7 : 5 + 10 * c + 10] = 1.0
        assert own == pytest.approx(expected, abs=0.06)
    assert (subjects.groups[:5] == 0).all()
    assert len(set(subjects.groups.tolist())) == 51
