"""The ways in: each translates between the outside and `twolane.library`, and decides nothing.

`wire` alone spells JSON keys; `failures` alone says what an error means to the outside.
"""
