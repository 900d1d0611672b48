"""One suite that every store passes; to add a store, add it to `adapters.ADAPTERS`."""
