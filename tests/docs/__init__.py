"""The documents are complete, and what they show is true."""
