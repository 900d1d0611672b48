"""Markdown as text: where its code is, and how it reads without its signs."""
