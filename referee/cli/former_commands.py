"""List former commands with what replaces them. Their names are refused with this sentence; no help lists them."""

from collections.abc import Iterable, Iterator


def _list_moved(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        yield name, f"Use `referee admin {name}`."


def _list_pages(path: str, page: str, requests: str, names: str) -> Iterator[tuple[str, str]]:
    for name in names.split():
        yield f"{path} {name}".lstrip(), f"Use {page}, or `referee api` with {requests}."


FORMER = dict(
    [
        *_list_moved(["audit", "backup", "restore", "prune", "keys", "doctor"]),
        ("class", "Use `referee admin class NAMES`."),
        ("account", "Use the page /account, `referee api` with /accounts/me, or `referee recover` without a token."),
        *_list_pages("", "the page /operator", "/accounts", "accounts"),
        *_list_pages("", "the page /account", "/accounts/me/tokens", "tokens"),
        *_list_pages("", "the page /account", "/friendly-requests and /bots/ID/friendlies", "friendlies"),
        *_list_pages("", "the page /account", "/invitations", "invitations"),
        *_list_pages("", "the page of the bot", "/bots/ID/faults", "faults"),
        *_list_pages("", "the page of the bot", "/bots/ID/ladders", "ladders"),
        *_list_pages("", "the page of the ladder", "/ladders/ID/exchanges/MONTH", "exchanges"),
        *_list_pages("", "the page of the match", "/matches/ID", "match"),
        *_list_pages("", "the page /series", "/series", "series"),
        *_list_pages("bots", "the page of the bot", "/bots/ID", "rename retire delete"),
        *_list_pages("tournament", "the page of the match", "/voids", "voids"),
        ("tournament confirm-void", "Use `referee tournament void MATCH --confirm`."),
        *_list_pages("tournament", "the page of the match", "/voids/ID", "decline-void withdraw-void"),
        *_list_pages("tournament", "the page of the tournament", "/tournaments/ID", "edit delete"),
        *_list_pages("tournament", "its page *Organise*", "/tournaments/ID/requests", "requests approve refuse"),
        *_list_pages("tournament", "its page *Organise*", "/tournaments/ID/…", "seeds admission organisers"),
        *_list_pages("tournament", "the page of the tournament", "/tournaments/ID/…", "crosstable strengths"),
        *_list_pages("tournament", "the page of the tournament", "/tournaments/ID/…", "opponents luck"),
    ]
)
