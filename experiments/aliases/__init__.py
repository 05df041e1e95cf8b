"""Whether names that the rules joined are one person's: a hand check of random joins. `python -m experiments.aliases --help`."""
