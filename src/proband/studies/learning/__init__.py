"""What the agent of a study makes of its log: policies by position, advice, and replay."""
