"""Where to cut chunks, how large, and how much they share. Run `python -m experiments.chunking --help`."""
