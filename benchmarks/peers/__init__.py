"""Neighbours of GutenGraph on the same text and with the same model: `python -m benchmarks.peers --help`."""
