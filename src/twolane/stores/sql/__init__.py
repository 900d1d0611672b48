"""What the SQL stores have in common, each thing defined once.

A store adds what is its engine's own: its tables, its index of words, its letters and vectors.
Nothing here is inherited from: these are functions, small values, and ports over a `Database`.
"""
