"""Layout, prompt and reply cap, one at a time and all together, for names and for relations."""
