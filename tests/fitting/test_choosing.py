"""How strong the penalty is: the default, unless rows that were not seen speak clearly for another strength."""

from __future__ import annotations

import numpy as np
import pytest

from proband.fitting.choosing import DEFAULT, FOLDS, MOST_COMPARED, SCALES, SPARSE_SCALES, STRENGTHS, choose


class Bringing:
    """Brings to each subject what its strength is said to be worth, with noise of its own; keeps what it was asked."""

    def __init__(self, worth: dict[float, float], noise: float = 0.0, n: int = 400) -> None:
        self.worth, self.noise = worth, np.random.default_rng(1).normal(size=(n, len(STRENGTHS))) * noise
        self.asked: list = []

    def __call__(self, learn, treat, every, seed):
        self.asked.append((learn, treat, sorted(set(every.scale.tolist())), seed))
        each = [self.worth.get(s, 0.0) + self.noise[treat, STRENGTHS.index(s)] for s in every.strength.tolist()]
        return np.column_stack(each)


def test_every_deal_treats_each_subject_once_by_what_did_not_see_it_at_its_prices() -> None:
    brought = Bringing({})
    choose(30, brought, SCALES, rng=np.random.default_rng(0))
    assert len(brought.asked) == FOLDS * len(SCALES)
    for learn, treat, scales, _ in brought.asked:
        assert sorted(np.concatenate([learn, treat])) == list(range(30))
        assert scales == [0.5, 1.0, 2.0]
    deals = [[treat for _, treat, *_ in brought.asked[k : k + FOLDS]] for k in (0, FOLDS)]
    for deal in deals:
        assert sorted(np.concatenate(deal)) == list(range(30))
    assert [part.tolist() for part in deals[0]] != [part.tolist() for part in deals[1]]
    assert len({seed for *_, seed in brought.asked}) == len(brought.asked)


def test_dear_plans_are_compared_at_one_price_in_each_deal_and_on_some_subjects() -> None:
    brought = Bringing({}, n=5000)
    choose(5000, brought, SPARSE_SCALES, rng=np.random.default_rng(0))
    assert [scales for *_, scales, _ in brought.asked] == [[0.5]] * FOLDS + [[2.0]] * FOLDS
    assert {len(learn) + len(treat) for learn, treat, *_ in brought.asked} == {MOST_COMPARED}


@pytest.mark.parametrize(
    ("worth", "noise", "chosen"),
    [
        ({}, 1.0, DEFAULT),
        ({3.0: 0.05}, 1.0, DEFAULT),  # ahead by chance, as far as anybody can tell
        ({3.0: 1.0}, 1.0, 3.0),
        ({3.0: 1.0, 10.0: 1.5}, 1.0, 10.0),
        ({DEFAULT: 1.0, 3.0: 1.0}, 0.0, DEFAULT),
    ],
)
def test_the_default_is_left_by_two_standard_errors(worth: dict, noise: float, chosen: float) -> None:
    found = choose(400, Bringing(worth, noise), SCALES, rng=np.random.default_rng(2))
    assert found.chosen == chosen
    by_strength = {score.strength: score for score in found.scores}
    assert by_strength[DEFAULT].ahead == 0
    if chosen != DEFAULT:
        assert by_strength[chosen].ahead > 2 * by_strength[chosen].standard_error


def test_the_same_seed_deals_alike() -> None:
    asked = []
    for _ in range(2):
        brought = Bringing({})
        choose(20, brought, SCALES, rng=np.random.default_rng(7))
        asked.append([(list(learn), seed) for learn, *_, seed in brought.asked])
    assert asked[0] == asked[1]


def test_with_hardly_any_subjects_there_is_nothing_to_compare() -> None:
    assert choose(2 * FOLDS - 1, Bringing({}), SCALES, rng=np.random.default_rng(0)).scores == ()
