"""Relations against gold, and a written-down hand check of what each family of patterns says."""
