"""The log of a study in its store: folding it, writing to it, snapshots of it, and auditing what is held of it."""
