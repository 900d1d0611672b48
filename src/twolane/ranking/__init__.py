"""Lanes, features and the order of documents."""
