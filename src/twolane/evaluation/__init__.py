"""Measure a search on golden sets: is a change better, and is the difference more than luck?

`golden` says what a set is, `golden_formats` reads it, `golden_build` makes one from a vault;
`indexes` makes the library that it is asked of, `runs` asks and keeps what was said,
`metrics` and `significance` score it, `comparing` puts two runs side by side, `suites` many sets,
`ablation` many settings; `calibration` says what scores mean; `report` shows it to people.

This package is a client: it uses Twolane's public names and nothing behind them.
"""
