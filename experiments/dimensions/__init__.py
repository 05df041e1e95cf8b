"""How many dimensions of a vector retrieval needs. Run `python -m experiments.dimensions --help`."""
