"""Everything that Dagster is to know: gathers what the modules beside it define."""

from __future__ import annotations

import warnings

import dagster as dg

# Checks of one partition are a preview in 1.13; the version is pinned.
warnings.filterwarnings("ignore", category=dg.PreviewWarning)
warnings.filterwarnings("ignore", category=dg.BetaWarning)

from gutengraph_assets import automation, checks, intake, library_checks, summaries  # noqa: E402
from gutengraph_assets.assets import arcs, delivery, extraction, graph, library, vectors  # noqa: E402
from gutengraph_assets.instance import relax_sqlite  # noqa: E402
from gutengraph_assets.resources import GutenGraph  # noqa: E402

relax_sqlite()

defs = dg.Definitions(
    # With the place of each in the source, which the UI opens.
    assets=dg.with_source_code_references(
        dg.load_assets_from_modules([library, vectors, extraction, graph, arcs, delivery])
    ),
    asset_checks=dg.load_asset_checks_from_modules([checks, library_checks]),
    jobs=automation.jobs + intake.jobs,
    schedules=automation.schedules,
    sensors=[*automation.sensors, *intake.sensors, *summaries.sensors],
    resources={"gutengraph": GutenGraph()},
    # The steps of a run share one process, and with it the models: loading them anew for every step takes
    # longer than most steps.
    executor=dg.in_process_executor,
)
