"""Provide the SDK for bot authors in Python, which handles HTTP, signatures and JSON. See `docs/sdk.md`."""

from referee.sdk.bot import Bot, Question, decides
from referee.sdk.observations import OBSERVATIONS, PoolNap, PrinceAlbert, Prisoners, RummyRoyal, SaintPoker, members
from referee.sdk.replaying import Replayed, replay
from referee.sdk.serving import serve, serving
from referee.sdk.views import View

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
