"""Builds the stores: the reader, extraction, and the Dagster definitions over them."""
