"""What is known of a study: events and their chain, and the ledger that they add up to."""

from proband.studies.ledger.chain import Event
from proband.studies.ledger.ledger import Ledger, Observation
from proband.studies.ledger.subject import Subject

__all__ = ["Event", "Ledger", "Observation", "Subject"]
