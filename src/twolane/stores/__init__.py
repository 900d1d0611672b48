"""Where documents and vectors are kept: one adapter per engine, each a `twolane.ports.Store`."""
