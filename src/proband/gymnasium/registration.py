"""The examples by name, for ``gymnasium.make``: ``proband/Bolts-v0`` and so on. Nothing is loaded before it is made."""

from __future__ import annotations

NAMES = (
    "bolts", "gout", "paper-discrete", "single-test", "many-states", "easy", "single-measurement", "proxy",
    "bolts-measured", "shafts",
)  # fmt: skip
"""The examples that have decisions; the others ask for sets of sites."""


def register_envs() -> None:
    """Register the examples; importing :mod:`proband.gymnasium` does it."""
    from gymnasium.envs.registration import register, registry

    for name in NAMES:
        identifier = f"proband/{''.join(part.capitalize() for part in name.split('-'))}-v0"
        if identifier in registry:
            continue
        register(
            id=identifier,
            entry_point="proband.gymnasium.environment:example",
            vector_entry_point="proband.gymnasium.vector:example",
            kwargs={"name": name},
        )
