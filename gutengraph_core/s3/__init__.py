"""A copy of the library in an S3 bucket, as both sides read it: the client, the manifest, fetching by it."""
