"""What the build side and the query side must agree on, and nothing else."""
