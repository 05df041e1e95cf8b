"""The HTTP API and the page: FastAPI over the query graph and the views."""
