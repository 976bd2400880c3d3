"""What is known of a study: events and their chain, and the ledger that they add up to."""
