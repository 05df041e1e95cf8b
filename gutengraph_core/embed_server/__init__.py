"""An embedding server with Text Embeddings Inference's routes, shapes and errors, over sentence-transformers."""
