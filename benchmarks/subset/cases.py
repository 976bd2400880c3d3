"""The instances: two networks of the literature with drawn costs, and covariances made at random."""

import numpy as np

from proband.distributions import covariance_files

LOG_TWO_PI_E = float(np.log(2 * np.pi * np.e))
PUBLISHED = {10: -18.298586, 20: -39.850279, 30: -63.343143, 40: -88.629889, 50: -116.002772, 60: -145.633366}
"""Optimal log det C[S,S] for |S| = s of the 63 sites."""


def network(folder, sites):
    return np.ascontiguousarray(covariance_files.read(folder / f"data{sites}.mat", None)[1])


def gains(covariance):
    """What a test brings alone, and given all others, in nats."""
    bare = (LOG_TWO_PI_E + np.log(covariance.diagonal())) / 2
    last = (LOG_TWO_PI_E - np.log(np.linalg.inv(covariance).diagonal())) / 2
    return bare, last


def priced(covariance, seed):
    """Costs between the 20 % quantile of gains given all others and the 80 % quantile of gains alone.

    Where the first is negative the covariance is given in smaller units, which adds the same to all gains.
    """
    bare, last = gains(covariance)
    low, high = np.quantile(last, 0.2), np.quantile(bare, 0.8)
    shift = max(-low, 0.0)
    costs = np.random.default_rng(seed).uniform(low + shift, high + shift, len(covariance))
    return covariance * np.exp(2 * shift), costs


def evenly_priced(covariance):
    """One cost for all tests, in the middle of the same range: the hard case."""
    bare, last = gains(covariance)
    low, high = np.quantile(last, 0.2), np.quantile(bare, 0.8)
    shift = max(-low, 0.0)
    return covariance * np.exp(2 * shift), np.full(len(covariance), (low + high) / 2 + shift)


def field(d, reach, seed=1):
    """Sites in a unit square whose correlation falls off exponentially, and a tenth of noise."""
    sites = np.random.default_rng(seed).uniform(size=(d, 2))
    apart = np.sqrt(((sites[:, None] - sites) ** 2).sum(axis=-1))
    return 10 * (np.exp(-apart / reach) + 0.1 * np.eye(d))


def factors(d, number, seed=1):
    """L·Lᵀ + 1 with a d × number matrix L of standard normal numbers."""
    loadings = np.random.default_rng(seed).normal(size=(d, number))
    return loadings @ loadings.T + np.eye(d)


HARD = {
    "field, reach 0.1, d = 60": lambda: field(60, 0.1),
    "field, reach 0.3, d = 60": lambda: field(60, 0.3),
    "field, reach 1, d = 60": lambda: field(60, 1.0),
    "15 factors, d = 60": lambda: factors(60, 15),
    "60 factors, d = 60": lambda: factors(60, 60),
    "field, reach 0.1, d = 100": lambda: field(100, 0.1),
    "field, reach 0.3, d = 100": lambda: field(100, 0.3),
    "25 factors, d = 100": lambda: factors(100, 25),
    "field, reach 0.1, d = 200": lambda: field(200, 0.1),
}
