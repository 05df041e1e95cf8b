"""On a test's PYTHONPATH: Dagster's daemon looks every second or two, where it otherwise looks every five or thirty.

Python imports this by its name at the start of every process; only the daemon's is touched.
"""

import sys

if "dagster._daemon" in sys.orig_argv:
    from dagster._core.remote_representation.external import RemoteSensor
    from dagster._core.run_coordinator import QueuedRunCoordinator
    from dagster._daemon import asset_daemon, controller, sensor

    controller.DEFAULT_DAEMON_INTERVAL_SECONDS = 1  # backfills
    sensor.MIN_INTERVAL_LOOP_TIME = 1
    asset_daemon.MIN_INTERVAL_LOOP_SECONDS = 1
    QueuedRunCoordinator.dequeue_interval_seconds = property(lambda self: 1)
    RemoteSensor.min_interval_seconds = property(lambda self: 2)
