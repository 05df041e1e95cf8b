"""Answers from the stores: the LangGraph app and its command line."""
