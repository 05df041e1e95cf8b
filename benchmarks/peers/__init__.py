"""Neighbours of GutenGraph on the same text, those that take a model with the same one: `python -m benchmarks.peers --help`."""
