"""Where documents and vectors are kept: one adapter per engine, each implementing the ports."""
