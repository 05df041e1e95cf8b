"""What passages of fiction resemble, and which themes that gives each book. Run `python -m experiments.themes --help`."""
