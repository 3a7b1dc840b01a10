"""Provide the SDK for bot authors in Python, which handles HTTP, signatures and JSON. See `docs/sdk.md`."""

from referee_extras.sdk.bot import Bot, Question, decides
from referee_extras.sdk.observations import (
    OBSERVATIONS,
    PoolNap,
    PrinceAlbert,
    Prisoners,
    RummyRoyal,
    SaintPoker,
    members,
)
from referee_extras.sdk.replaying import Replayed, replay
from referee_extras.sdk.serving import serve, serving
from referee_extras.sdk.views import View

__all__ = [
    "OBSERVATIONS",
    "Bot",
    "PoolNap",
    "PrinceAlbert",
    "Prisoners",
    "Question",
    "Replayed",
    "RummyRoyal",
    "SaintPoker",
    "View",
    "decides",
    "members",
    "replay",
    "serve",
    "serving",
]
