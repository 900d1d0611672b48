"""Where documents come from: each module implements `twolane.ports.source.Source`."""
