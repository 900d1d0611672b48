"""Frozen values and the one error tree; nothing here knows of the rooms below."""
