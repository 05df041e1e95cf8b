"""The assets. Their modules and the checks do without `from __future__ import annotations`: Dagster reads the
annotations of their functions as they are."""
