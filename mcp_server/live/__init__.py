"""Watching a run of code by WebSocket, from the admin (contract A04)."""
