"""The service: studies over HTTP, for stations that ask and people who look.

It is a thin shell over :class:`proband.Study` and needs the extra ``proband[service]``. ``proband serve`` starts it;
:func:`create_app` makes the application for whoever runs it otherwise.
"""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.service.application import create_app
    from proband.service.guard import Guard
    from proband.service.limits import Limits
    from proband.service.server import Serving, serve
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = ["Guard", "Limits", "Serving", "create_app", "serve"]
