"""Measurements of whole runs, each one command; the results lie beside them."""
