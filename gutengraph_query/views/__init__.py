"""What a reader is shown of a book, read from the published graph and the book's own files."""
