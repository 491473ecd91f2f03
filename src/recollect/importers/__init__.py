"""Readers of what other memory systems keep: one file a format, each a `read` that only reads."""
