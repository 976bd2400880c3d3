"""What is particular to listed outcomes: where plans stop, and what vetoes them."""

__all__ = ["leaves", "reference"]
