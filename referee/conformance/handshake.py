"""Check the handshake: reachability, the challenge, the manifest, and the steps of an opening."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from referee.botclient.client import check_proof
from referee.botclient.reply import Reply
from referee.conformance.calls import UNREACHABLE_FAULTS, Call
from referee.conformance.context import CheckContext
from referee.conformance.positions import fresh_id
from referee.games import catalogue
from referee.games.state import State
from referee.match.chance import commitment
from referee.protocol import messages


async def run_handshake(check: CheckContext) -> bool:
    """Send the challenge if a secret is known, read the manifest and go through the opening of a deal group.

    Return whether the check continues.
    """
    if check.secrets:
        if not await _challenge(check):  # the address may belong to another bot by now
            return False
    else:
        check.notes.skip(["challenge"], "no secret was given")
    if not await _manifest(check):
        return False
    if check.manifest is not None:
        check.channel.allow(check.manifest.max_concurrent_requests)
    await _run_opening(check)
    return True


async def recheck_manifest(check: CheckContext) -> None:
    """Read the manifest again and compare the version, because a certificate is for one version of a bot."""
    first, call = check.manifest, _manifest_call(check)
    if first is None:
        check.notes.skip(["same_version"], "there is no manifest")
        return
    last = _read_manifest(check, call, await check.send(call))
    if last is not None:
        check.manifest = last
        came = f"first {first.version!r}, then {last.version!r}"
        check.note("same_version", call, "" if last.version == first.version else "another_answer", came)


def choose_games(check: CheckContext, names: Sequence[str]) -> list[type[State]]:
    """Return the games in ``names`` or, if it is empty, those of the manifest that exist. Note unknown games."""
    known = catalogue()
    named = dict.fromkeys(check.manifest.games if check.manifest else ())
    games = [name for name in named if name in known]
    if check.manifest is not None:
        call = _manifest_call(check)
        check.note("known_game", call, "" if games else "bad_schema", f"games is {list(named)}")
        for name in named:
            if name not in known and games:
                check.note("unknown_game", call, "bad_schema", f"unknown game {name!r}", where=name[:40])
    return [known[name] for name in names or games]


# -- challenge and manifest --


async def _challenge(check: CheckContext) -> bool:
    nonce = check.dice.randbytes(16).hex()
    call = check.notify_call(messages.challenge_body(check.channel.target.bot_id, nonce), f"chl_{nonce}")
    reply = await check.send(call)
    if not _is_reachable(check, call, reply):
        return False
    reply = check_proof(reply, nonce, check.secrets)
    check.note_reply("challenge", call, reply)
    return reply.ok or not check.unproven_ends


async def _manifest(check: CheckContext) -> bool:
    call = _manifest_call(check)
    reply = await check.send(call)
    if not check.secrets and not _is_reachable(check, call, reply):
        return False
    check.manifest = _read_manifest(check, call, reply)
    return True


def _read_manifest(check: CheckContext, call: Call, reply: Reply) -> messages.Manifest | None:
    manifest, reply = reply.read(messages.read_manifest)
    check.note_reply("manifest", call, reply)
    return manifest


def _manifest_call(check: CheckContext) -> Call:
    return Call("GET", "/", fresh_id("manifest", check.dice), b"", check.secrets)


def _is_reachable(check: CheckContext, call: Call, first: Reply) -> bool:
    """Judge the reply to the first call. Return whether the call reached the bot."""
    if first.fault in UNREACHABLE_FAULTS or (first.fault == "deadline" and not first.sent):
        check.note_reply("reachable", call, first)
        return False
    check.note_time("slow_start", call, first)
    return True


# -- the opening of a deal group --


READERS: Mapping[
    str, tuple[str, Callable[[bytes], Any]]
] = {  # by rule: a member of the reply, and the reader of that member
    "nonce_promise": ("nonce_hash", messages.read_nonce_hash),
    "nonce_kept": ("nonce", messages.read_nonce),
    "nonce_accepted": ("accepted", messages.read_accepted),
    "nonce_missed": ("accepted", messages.read_accepted),
}


async def _run_opening(check: CheckContext) -> None:
    group_id, seed = fresh_id("grp", check.dice), check.dice.randbytes(32)
    committed = commitment(seed, group_id)
    promised, _ = await _check_opening_step(
        check, "nonce_promise", messages.group_start_body(group_id, committed), f"{group_id}_start_1"
    )
    hashes = [promised or "", ""]
    second = messages.group_start_body(group_id, committed, hashes)
    nonce, call = await _check_opening_step(check, "nonce_kept", second, f"{group_id}_start_2")
    if not promised or nonce is None:
        check.notes.skip(["nonce_accepted", "nonce_missed"], "the bot gave no nonce")
    elif hashlib.sha256(nonce.encode()).hexdigest() != promised:
        check.note("nonce_kept", call, "broken_promise", f"the nonce {nonce!r} does not fit its hash {promised}")
        check.notes.skip(["nonce_accepted", "nonce_missed"], "the bot did not keep its promise")
    else:
        await _run_opening_step_3(check, group_id, committed, hashes, nonce)


async def _run_opening_step_3(
    check: CheckContext, group_id: str, committed: str, hashes: Sequence[str], nonce: str
) -> None:
    """Send step 3 correctly, then with a different nonce in place of the bot's own."""
    third = messages.group_start_body(group_id, committed, hashes, [nonce, ""])
    accepted, call = await _check_opening_step(check, "nonce_accepted", third, f"{group_id}_start_3")
    if accepted is False:
        check.note("nonce_accepted", call, "refused", f"accepted is false, though nonces has {nonce!r}")
    if not accepted:
        check.notes.skip(["nonce_missed"], "the bot did not accept its own nonce")
        return
    forged = messages.group_start_body(group_id, committed, hashes, [fresh_id("not", check.dice), ""])
    accepted, call = await _check_opening_step(check, "nonce_missed", forged, f"{group_id}_start_3_changed")
    if accepted:
        check.note("nonce_missed", call, "accepted", f"accepted is true, though nonces lacks {nonce!r}")


async def _check_opening_step(check: CheckContext, rule: str, body: bytes, id: str) -> tuple[Any, Call]:
    """Send a step of an opening. Return the value in the reply and the call. The value is None after a fault, and if
    the bot does not take part in openings, which is allowed."""
    call = check.notify_call(body, id)
    name, read = READERS[rule]
    reply = await check.send(call)
    answer, reply = reply.read(lambda body: read(body) if name in messages.read_object(body) else None)
    check.note_reply(rule, call, reply)
    return answer, call
