"""From past subjects to a policy that one can believe: a law to plan with, a plan that follows no chance, its value."""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.fitting.call import fit
    from proband.fitting.fitted import Fit, Leaf, Strength
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = ["Fit", "Leaf", "Strength", "fit"]
