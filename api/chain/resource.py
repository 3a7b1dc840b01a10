"""List the public keys and the chain of signatures."""

from typing import Any

from api.auth import anyone
from api.chain.presentation import list_keys, present_signature
from api.chain.schemas import ChainQuery, KeyView, SignatureView
from api.views import Resource, current_session
from referee.db.paging import Page, read_values, slice_page
from referee.matches.logs import chain

resource = Resource("chain", "/api/v1", "Signatures of logs: public keys and the chain.")


@resource.get("/keys", anyone, items=KeyView)
def keys(query: dict[str, Any]) -> Any:
    """List the public keys with which logs are signed

    The current key is first, then the earlier ones, newest first. Note a key from a source that you trust, such as an
    announcement of the operator, and check logs with `referee verify --key`.
    """
    return slice_page(list_keys(), **query)


@resource.get("/chain", anyone, items=SignatureView, query=ChainQuery)
def entries(query: dict[str, Any]) -> Any:
    """List the signatures of logs, in order

    When a deal group is over, its logs are signed in the order of their results. Each entry names the digest of the one
    before, so that nobody can change, remove or insert an earlier one unnoticed. What is signed is the canonical JSON
    of `key`, `log`, `match`, `number`, `previous` and `type` (which is `signature`). With `match`, the list has at most
    one entry; with `head`, it has the last one. The response is a 409 `chain_damaged` if the stored entries do not
    follow from each other.
    """
    if query["match_id"] is not None or query["head"]:
        found = _find(query["match_id"])
        return Page([] if found is None else [present_signature(found)], None)
    (after,) = read_values(query["cursor"], int) or (query["after"],)
    listed = chain.list_checked_entries(current_session(), after, query["limit"] + 1)
    page = listed[: query["limit"]]
    following = [page[-1].number] if len(listed) > len(page) else None
    return Page([present_signature(entry) for entry in page], following)


def _find(match_id: str | None) -> Any:
    session = current_session()
    return chain.find_checked_head(session) if match_id is None else chain.find_checked_entry(session, match_id)
