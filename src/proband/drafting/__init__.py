"""From a table to the draft of a problem file: what each column seems to be, and every doubt about it."""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.drafting.drafts import Draft, draft
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = ["Draft", "draft"]
