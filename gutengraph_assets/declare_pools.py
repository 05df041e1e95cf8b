"""`python -m gutengraph_assets.declare_pools`: opens the instance once, which declares its pools.

For a deployment whose runs may start before anybody has called `gutengraph`.
"""

from __future__ import annotations

from gutengraph_assets.instance import open_instance
from gutengraph_core.settings import load_settings


def main() -> None:
    """Raises DataFolderError, StoreError."""
    with open_instance(load_settings().library):
        pass


if __name__ == "__main__":
    main()
