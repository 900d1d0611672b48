"""Where documents come from: each module implements `twolane.ports.Source`."""
