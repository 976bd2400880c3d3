"""Agents of maximum-entropy sampling: they learn which tests are worth their price, and how these co-vary.

The paper's elimination (Section 3, Algorithm 4), one agent that certifies what it says, one that keeps regret lowest,
and explore-then-commit. Testing everything and the clairvoyant are those of :mod:`proband.agents.fixed`.
"""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.agents.entropy.certificates.certificate import Certificate
    from proband.agents.entropy.certified import Certified
    from proband.agents.entropy.elimination import AgentWarning, Elimination
    from proband.agents.entropy.explore_then_commit import EntropyExploreThenCommit
    from proband.agents.entropy.learning.normality import Normality, check_normality
    from proband.agents.entropy.rounds import SetAgent
    from proband.agents.entropy.thrifty import Thrifty
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = [
    "AgentWarning",
    "Certificate",
    "Certified",
    "Elimination",
    "EntropyExploreThenCommit",
    "Normality",
    "SetAgent",
    "Thrifty",
    "check_normality",
]
