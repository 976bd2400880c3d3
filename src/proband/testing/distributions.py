"""What every law must do: sample, condition and measure itself, all in agreement."""

from __future__ import annotations

import numpy as np

from proband.distributions import Discrete, Distribution, Gaussian
from proband.errors import DistributionError

SAMPLES = 4000


def check_distribution(distribution: Distribution, rng: np.random.Generator, *, tolerance: float = 1e-9) -> None:
    """Raise AssertionError unless a law keeps its contract.

    Samples have the right shape, repeat with the seed and agree with the conditions; conditioning on nothing
    changes nothing. The law that planners take for it is one that they know, of as many tests. A law of listed
    outcomes is that law: its probabilities sum to one, masses add up over the outcomes of a test, posteriors are ratios
    of masses, the chain rule of entropy holds, samples have its frequencies.

    Examples
    --------
    >>> check_distribution(Discrete([[0, 0], [1, 1]], [0.25, 0.75]), np.random.default_rng(0))
    """
    assert isinstance(distribution, Distribution), (
        f"{distribution!r} is no Distribution; it needs d, check, sample, condition, entropy and solvable"
    )
    solved = distribution.solvable()
    assert isinstance(solved, Discrete | Gaussian), f"planners are given {solved!r}; they know Discrete and Gaussian"
    assert solved.d == distribution.d, f"planners are given {solved.d} tests; the law has {distribution.d}"
    if isinstance(solved, Discrete):
        _check_discrete(solved, tolerance)
    _check_samples(distribution, rng)
    _check_conditions(distribution, rng, tolerance)
    if isinstance(solved, Discrete):
        _check_masses(solved, rng, tolerance)
        _check_chain_rule(solved, tolerance)
        _check_frequencies(distribution, solved, rng)
        assert _close(distribution.entropy(), solved.entropy(), tolerance), (
            f"the entropy is {distribution.entropy()}; as a list of outcome vectors it has {solved.entropy()}"
        )


def _check_samples(distribution: Distribution, rng: np.random.Generator) -> None:
    d = distribution.d
    assert d >= 1, f"d is {d}; a law has one or more tests"
    seed = int(rng.integers(2**32))
    first = distribution.sample(np.random.default_rng(seed), 20)
    again = distribution.sample(np.random.default_rng(seed), 20)
    assert first.shape == (20, d), f"sample(rng, 20) has shape {first.shape}; it must be {(20, d)}"
    assert first.dtype == np.float64, f"samples are {first.dtype}; outcome vectors are rows of float64"
    assert np.isfinite(first).all(), "a sample holds NaN or infinity; a drawn outcome vector is complete"
    assert np.array_equal(first, again), "the same seed gave different samples; draw from the given rng alone"
    none = distribution.sample(rng, 0)
    assert none.shape == (0, d), f"sample(rng, 0) has shape {none.shape}; it must be {(0, d)}"


def _check_conditions(distribution: Distribution, rng: np.random.Generator, tolerance: float) -> None:
    d = distribution.d
    unchanged = distribution.condition(np.full(d, np.nan))
    assert _close(unchanged.entropy(), distribution.entropy(), tolerance), (
        f"conditioning on nothing changed the entropy from {distribution.entropy()} to {unchanged.entropy()}"
    )
    for row in distribution.sample(rng, 5):
        state = np.where(rng.random(d) < 0.5, row, np.nan)
        before = state.copy()
        posterior = distribution.condition(state)
        assert np.array_equal(state, before, equal_nan=True), "condition changed the state that it was given"
        assert posterior.d == d, f"the posterior has {posterior.d} tests; it must keep all {d}"
        known = ~np.isnan(state)
        drawn = posterior.sample(rng, 10)
        assert (drawn[:, known] == state[known]).all(), (
            f"samples of the posterior given {state.tolist()} do not show its known entries"
        )


def _check_discrete(listed: Discrete, tolerance: float) -> None:
    support, p = listed.support, listed.probabilities
    assert support.shape == (len(listed), listed.d), f"the support has shape {support.shape}; it must be (n, d)"
    assert p.shape == (len(listed),), f"the probabilities have shape {p.shape}; the support has {len(listed)} rows"
    assert (p > 0).all(), "a support row has probability zero; it must be left out"
    assert _close(p.sum(), 1.0, tolerance), f"the probabilities sum to {p.sum()}; they must sum to one"
    assert len(np.unique(support, axis=0)) == len(support), "the support repeats a row; merge equal rows"
    assert ((support >= 0) & (support == np.floor(support))).all(), "the support holds no outcome numbers"
    assert not support.flags.writeable, "the support can be written to; a law does not change"
    assert not p.flags.writeable, "the probabilities can be written to; a law does not change"
    assert listed.entropy() >= -tolerance, f"the entropy is {listed.entropy()}; a discrete law has 0 or more"


def _check_masses(listed: Discrete, rng: np.random.Generator, tolerance: float) -> None:
    for row in listed.sample(rng, 5):
        state = np.where(rng.random(listed.d) < 0.5, row, np.nan)
        i = int(rng.integers(listed.d))
        below = np.tile(np.where(np.arange(listed.d) == i, np.nan, state), (len(listed.marginal(i)), 1))
        parent = below[0].copy()
        below[:, i] = np.arange(len(below))
        masses, total = listed.mass(below), listed.mass(parent[None])[0]
        assert _close(masses.sum(), total, tolerance), (
            f"the masses over the outcomes of test {i} sum to {masses.sum()}; the state {parent.tolist()} has {total}"
        )
        posterior = listed.condition(parent)
        assert np.allclose(posterior.mass(below) * total, masses, rtol=0, atol=tolerance), (
            f"the posterior given {parent.tolist()} is not the ratio of masses"
        )
    assert listed.mass(np.empty((0, listed.d))).shape == (0,), "the mass of no states must be an empty array"
    _check_impossible(listed)


def _check_impossible(listed: Discrete) -> None:
    impossible = listed.support.max(axis=0) + 1
    assert listed.mass(impossible[None])[0] == 0, f"the state {impossible.tolist()} is outside the support, with mass"
    try:
        listed.condition(impossible)
    except DistributionError:
        return
    raise AssertionError("conditioning on an impossible state must raise DistributionError")


def _check_chain_rule(listed: Discrete, tolerance: float) -> None:
    """H(x) = H(x_0) + Σ_b P(x_0 = b) H(x | x_0 = b)."""
    marginal = listed.marginal(0)
    entropy = float(-(marginal[marginal > 0] * np.log(marginal[marginal > 0])).sum())
    for b in np.flatnonzero(marginal):
        entropy += marginal[b] * listed.condition([b] + [np.nan] * (listed.d - 1)).entropy()
    assert _close(entropy, listed.entropy(), tolerance), (
        f"the entropy is {listed.entropy()}; by the chain rule over the first test it must be {entropy}"
    )


def _check_frequencies(distribution: Distribution, listed: Discrete, rng: np.random.Generator) -> None:
    """Compare sampled frequencies with probabilities, six standard deviations wide."""
    drawn = distribution.sample(rng, SAMPLES)
    for i in range(min(listed.d, 20)):
        expected = listed.marginal(i)
        seen = np.bincount(drawn[:, i].astype(np.int64), minlength=len(expected)) / SAMPLES
        width = 6 * np.sqrt(expected * (1 - expected).clip(0) / SAMPLES) + 6 / SAMPLES
        assert (np.abs(seen - expected) <= width).all(), (
            f"test {i} was drawn with frequencies {seen.tolist()}; its probabilities are {expected.tolist()}"
        )


def _close(a: float, b: float, tolerance: float) -> bool:
    return bool(abs(a - b) <= tolerance * max(1.0, abs(a), abs(b)))
