"""The interfaces, each used from outside as its users do."""
