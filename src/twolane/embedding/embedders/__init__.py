"""Embedders: adapters that turn texts into unit vectors."""
