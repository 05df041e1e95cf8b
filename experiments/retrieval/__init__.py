"""Which passages answer a question. Run `python -m experiments.retrieval --help`."""
