"""Chunks and queries become vectors."""
