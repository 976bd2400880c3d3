"""An agent as bytes, with all that it has learned and planned, and an agent from such bytes, equal bit for bit.

Nothing is unpickled, and nothing in the bytes says what is to be run. An object is its class and its attributes; only
classes of the library's own parts, and of the package of the agent, are taken, and they are filled without being
called. Functions are not in the bytes: they are those of a new agent of the study, by name. What only speeds things up
(cached properties) is left out, and found again when it is asked for.

An agent that holds something else (an open file, a lock) cannot be frozen, and raises :class:`FreezeError`; its plans
are made where they are needed, as if nobody shared any.
"""

from proband.studies.learning.frozen.basis import Basis, FreezeError
from proband.studies.learning.frozen.freezing import freeze
from proband.studies.learning.frozen.thawing import thaw

__all__ = ["Basis", "FreezeError", "freeze", "thaw"]
