"""Examples of what every client does first: open an account, register a bot, read standings, download a log."""

from typing import Any, Final

from referee.bots.states import BotState, CheckState
from referee.match.canonical import dumps

Json = dict[str, Any]

ACCOUNT: Final = "acc_3ettwpnjpn60zs3hrs9tjzvz44"
BOT: Final = "bot_63tzy2y4j606csxs1x0p3t4k57"
RIVAL: Final = "bot_1r5vfy8rzb7f2cj8kwcdpvzdjs"
AT: Final = "2027-01-31T18:05:20.289Z"


def _documents(*, status: int, response: Json, request: Json | None = None) -> Json:
    """Return what to add to an operation: the bodies of a request and of its response."""
    body = {} if request is None else {"requestBody": {"content": {"application/json": {"example": request}}}}
    return {**body, "responses": {status: {"content": {"application/json": {"example": response}}}}}


def _row(rank: int, bot: str, name: str, points: int) -> Json:
    """Return a row of standings after one match of two bots."""
    tie_breaks = {"points": points, "head_to_head": None, "sonneborn_berger": 0, "wins": points}
    return {
        "rank": rank,
        "bot": bot,
        "name": name,
        "owner": ACCOUNT,
        "owner_name": "Ada",
        "withdrawn": False,
        "disqualification": None,
        "version_changed": False,
        "matches": 1,
        "byes": 0,
        "points": points,
        "points_exact": str(points),
        "points_per_match": points,
        "error_bar": {"low": None, "high": None, "groups": 1},
        "wins": points,
        "draws": 0,
        "losses": 1 - points,
        "returns": 13 + 11 * points,
        "tie_breaks": [
            {"name": name, "value": value, "exact": None if value is None else str(value)}
            for name, value in tie_breaks.items()
        ],
    }


OPEN_ACCOUNT: Final = _documents(
    status=201,
    request={"name": "Ada"},
    response={
        "id": ACCOUNT,
        "name": "Ada",
        "role": "owner",
        "entry_consent": "ask",
        "created_at": AT,
        "token": {
            "id": "tok_1t7307e4dt4ky6sv4kpfnkcjw9",
            "name": "first",
            "hint": "ref_xxxx…xxxx",
            "scopes": ["all"],
            "created_at": AT,
            "expires_at": None,
            "last_used_at": None,
            "revoked_at": None,
            "parent_id": None,
            "token": f"ref_{'x' * 49}",
        },
        "recovery_code": f"rcv_{'x' * 49}",
    },
)

REGISTER_BOT: Final = _documents(
    status=201,
    request={"name": "Countess", "url": "https://countess.example.org", "language": "Python"},
    response={
        "id": BOT,
        "name": "Countess",
        "owner": ACCOUNT,
        "owner_name": "Ada",
        "summary": None,
        "language": "Python",
        "link": None,
        "status": BotState.UNVERIFIED.value,
        "version": None,
        "games": [],
        "max_concurrent_requests": 8,
        "certified": [],
        "ratings": [],
        "rated_at": None,
        "created_at": AT,
        "deleted_at": None,
        "former_names": [],
        "url": "https://countess.example.org",
        "verified_url": None,
        "status_reason": None,
        "handshake": {"state": CheckState.DUE.value, "ended_at": None, "report": None},
        "check": {
            "state": CheckState.IDLE.value,
            "questions_sent": 0,
            "questions_total": 0,
            "current_step": "",
            "version": None,
            "ended_at": None,
            "report": None,
        },
        "previous_secret_until": None,
        "secret": f"whsec_{'A' * 43}=",
    },
)

READ_STANDINGS: Final = _documents(
    status=200,
    response={
        "as_of_seq": 1,
        "results": 1,
        "samples": 1000,
        "items": [_row(1, BOT, "Countess", 1), _row(2, RIVAL, "Duchess", 0)],
        "next": None,
    },
)

HEADER: Final = {
    "row": 0,
    "type": "header",
    "log_format": 2,
    "engine_version": "0.2.0.dev1214+g64dbda5512",
    "match": "mat_7w7qarqf3mjt7mqgd67743j7b1",
    "game": "saint-poker",
    "rules_version": 1,
    "seats": 2,
    "options": {"rounds": 8, "final_pickup": True},
    "players": [
        {"bot": BOT, "name": "Countess", "version": "1.0"},
        {"bot": RIVAL, "name": "Duchess", "version": "1.0"},
    ],
    "rated": True,
    "time": {"budget_ms": 1000, "bank_ms": 10000},
    "group": {
        "id": "grp_13rhs4aavyehg5e0cgfdjf8gkc",
        "commitment": "2f03aa076a7974ed0cee29b1c1b6d76a9cecf065044bf9d7ebec050a41de0b4e",
        "entries": [BOT, RIVAL],
    },
    "prev": None,
}
DOWNLOAD_LOG: Final = {
    "responses": {
        200: {
            "content": {
                "application/x-ndjson": {
                    "examples": {
                        "first row": {
                            "summary": "The first row, which all others follow",
                            "value": dumps(HEADER).decode() + "\n",
                        }
                    }
                }
            }
        }
    }
}
