"""Measure a search on golden sets: is a change better, and is the difference more than luck?

`golden` reads, checks and writes golden sets; `trec` reads and writes run files;
`metrics` scores one ranking; `tables` averages over queries, directions and categories;
`significance` says how far a mean or a difference can be trusted;
`running` asks a library, `runs` keeps what it said, `comparing` puts two runs side by side,
and `report` and `markdown_tables` show them to people;
`golden_build` makes golden sets from a vault; `freshness` tells whether its vectors are current.

This package is a client: it uses Twolane's public names and nothing behind them.
"""
