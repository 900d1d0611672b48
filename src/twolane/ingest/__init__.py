"""A file or a draft becomes documents and chunks."""
