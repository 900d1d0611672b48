"""The tests; a package, so that suites can share `tests.builders`."""
