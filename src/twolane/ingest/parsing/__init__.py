"""From the bytes of a file to a document; each module reads one part of a note."""
