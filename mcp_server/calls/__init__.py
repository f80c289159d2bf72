"""One call from start to end: find, permitted, validate, run, shape, record."""
