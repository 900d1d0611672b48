"""One module per measurement; each has `measure(room)` and says in its docstring what it does."""
