"""Story arcs for the documentation, and where the two ways of reading feeling part. See `--help`."""
