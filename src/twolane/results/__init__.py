"""What is shown of the documents that were found."""
