"""Measure a search on golden sets: is a change better, and is the difference more than luck?

`golden` reads, checks and writes golden sets; `trec` reads and writes run files;
`metrics` scores one ranking; `tables` averages over queries, directions and categories;
`significance` says how far a mean or a difference can be trusted.

This package is a client: it uses Twolane's public names and nothing behind them.
"""
