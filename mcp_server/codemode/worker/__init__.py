"""The cellar: a process of its own that knows the standard library and V8, nothing of Django (contract S02)."""
