"""Keeping a copy of the library in an S3 bucket: plan, lock, sync, verify, restore."""
