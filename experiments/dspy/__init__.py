"""Prompts compiled by DSPy for one model over our own LLM protocol, and kept as artefacts that the pipeline loads."""
