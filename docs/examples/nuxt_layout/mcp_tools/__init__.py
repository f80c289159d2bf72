"""Tools in several modules."""
