"""The handshake of an examination: reachability, the challenge, the manifest, and the steps of an opening."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from referee.botclient.client import Reply
from referee.conformance.calls import UNREACHABLE_FAULTS, Call
from referee.conformance.context import ExaminationContext, describe_reply, describe_timing
from referee.conformance.positions import fresh_id
from referee.games import catalogue
from referee.games.state import State
from referee.match.chance import commitment
from referee.protocol import messages
from referee.protocol.signing import challenge_proof


async def run_handshake(exam: ExaminationContext) -> bool:
    """Send the challenge if a secret is known, read the manifest and go through the opening of a deal group.

    Return whether the examination continues.
    """
    if exam.secrets:
        if not await _challenge(exam):  # the address may belong to another bot by now
            return False
    else:
        exam.notes.skip(["challenge"], "no secret was given")
    if not await _manifest(exam):
        return False
    if exam.manifest is not None:
        exam.channel.allow(exam.manifest.max_concurrent_requests)
    await _run_opening(exam)
    return True


async def recheck_manifest(exam: ExaminationContext) -> None:
    """Read the manifest again: a certificate is for one version of the program."""
    first, call = exam.manifest, _manifest_call(exam)
    if first is None:
        exam.notes.skip(["same_version"], "there is no manifest")
        return
    last = _read_manifest(exam, call, await exam.channel.send(call, exam.pace.notice_ms))
    if last is not None:
        exam.manifest = last
        came = f"first {first.version!r}, then {last.version!r}"
        exam.note("same_version", call, "" if last.version == first.version else "another_answer", came)


def choose_games(exam: ExaminationContext, names: Sequence[str]) -> list[type[State]]:
    """Return the wanted games, else the existing games of the manifest."""
    known = catalogue()
    named = dict.fromkeys(exam.manifest.games if exam.manifest else ())
    games = [name for name in named if name in known]
    if exam.manifest is not None:
        call = _manifest_call(exam)
        exam.note("known_game", call, "" if games else "bad_schema", f"games is {list(named)}")
        for name in named:
            if name not in known and games:
                exam.note("unknown_game", call, "bad_schema", f"unknown game {name!r}", where=name[:40])
    return [known[name] for name in names or games]


# -- challenge and manifest --


async def _challenge(exam: ExaminationContext) -> bool:
    nonce = exam.rng.randbytes(16).hex()
    call = exam.notify_call(messages.challenge_body(exam.channel.target.bot_id, nonce), f"chl_{nonce}")
    reply = await exam.channel.send(call, exam.pace.notice_ms)
    if not _is_reachable(exam, call, reply):
        return False
    fault, detail = reply.fault, describe_reply(reply)
    if reply.ok:
        try:
            proof = messages.read_proof(reply.body)
        except messages.BadBody as bad:
            fault, detail = bad.fault, describe_reply(reply.with_fault(bad.fault, bad.detail))
        else:
            if proof not in [challenge_proof(secret, nonce) for secret in exam.secrets]:
                fault, detail = "wrong_proof", "proof is not the HMAC-SHA256 of the nonce under the secret"
    exam.note("challenge", call, fault, detail)
    return not (fault and exam.unproven_ends)


async def _manifest(exam: ExaminationContext) -> bool:
    call = _manifest_call(exam)
    reply = await exam.channel.send(call, exam.pace.notice_ms)
    if not exam.secrets and not _is_reachable(exam, call, reply):
        return False
    exam.manifest = _read_manifest(exam, call, reply)
    return True


def _read_manifest(exam: ExaminationContext, call: Call, reply: Reply) -> messages.Manifest | None:
    manifest, fault, detail = None, reply.fault, describe_reply(reply)
    if reply.ok:
        try:
            manifest = messages.read_manifest(reply.body)
        except messages.BadBody as bad:
            fault, detail = bad.fault, describe_reply(reply.with_fault(bad.fault, bad.detail))
    exam.note("manifest", call, fault, detail)
    return manifest


def _manifest_call(exam: ExaminationContext) -> Call:
    return Call("GET", "/", fresh_id("manifest", exam.rng), b"", exam.secrets)


def _is_reachable(exam: ExaminationContext, call: Call, first: Reply) -> bool:
    """Judge the first call: return whether the bot was reached."""
    if first.fault in UNREACHABLE_FAULTS or (first.fault == "deadline" and not first.sent):
        exam.note("reachable", call, first.fault, describe_reply(first))
        return False
    late = first.ms > exam.pace.budget_ms
    exam.note("slow_start", call, "late" if late else "", describe_timing(first))
    return True


# -- the opening of a deal group --


READERS: Mapping[str, tuple[str, Callable[[bytes], Any]]] = {  # by rule: the member of the answer, and its reader
    "nonce_promise": ("nonce_hash", messages.read_nonce_hash),
    "nonce_kept": ("nonce", messages.read_nonce),
    "nonce_accepted": ("accepted", messages.read_accepted),
    "nonce_missed": ("accepted", messages.read_accepted),
}


async def _run_opening(exam: ExaminationContext) -> None:
    group_id, seed = fresh_id("grp", exam.rng), exam.rng.randbytes(32)
    committed = commitment(seed, group_id)
    promised, _ = await _check_opening_step(
        exam, "nonce_promise", messages.group_start_body(group_id, committed), f"{group_id}_start_1"
    )
    hashes = [promised or "", ""]
    second = messages.group_start_body(group_id, committed, hashes)
    nonce, call = await _check_opening_step(exam, "nonce_kept", second, f"{group_id}_start_2")
    if not promised or nonce is None:
        exam.notes.skip(["nonce_accepted", "nonce_missed"], "the bot gave no nonce")
    elif hashlib.sha256(nonce.encode()).hexdigest() != promised:
        exam.note("nonce_kept", call, "broken_promise", f"the nonce {nonce!r} does not fit its hash {promised}")
        exam.notes.skip(["nonce_accepted", "nonce_missed"], "the bot did not keep its promise")
    else:
        await _run_opening_step_3(exam, group_id, committed, hashes, nonce)


async def _run_opening_step_3(
    exam: ExaminationContext, group_id: str, committed: str, hashes: Sequence[str], nonce: str
) -> None:
    """Send step 3 correctly, then with another nonce in place of the bot's own."""
    third = messages.group_start_body(group_id, committed, hashes, [nonce, ""])
    accepted, call = await _check_opening_step(exam, "nonce_accepted", third, f"{group_id}_start_3")
    if accepted is False:
        exam.note("nonce_accepted", call, "refused", f"accepted is false, though nonces has {nonce!r}")
    if not accepted:
        exam.notes.skip(["nonce_missed"], "the bot did not accept its own nonce")
        return
    forged = messages.group_start_body(group_id, committed, hashes, [fresh_id("not", exam.rng), ""])
    accepted, call = await _check_opening_step(exam, "nonce_missed", forged, f"{group_id}_start_3_changed")
    if accepted:
        exam.note("nonce_missed", call, "accepted", f"accepted is true, though nonces lacks {nonce!r}")


async def _check_opening_step(exam: ExaminationContext, rule: str, body: bytes, id: str) -> tuple[Any, Call]:
    """Return the value that a step returned, and its call. The value is None after a fault and if the bot takes no
    part, which is allowed."""
    call = exam.notify_call(body, id)
    reply = await exam.channel.send(call, exam.pace.notice_ms)
    told, fault, detail = None, reply.fault, describe_reply(reply)
    if reply.ok:
        name, read = READERS[rule]
        try:
            told = read(reply.body) if name in messages.read_object(reply.body) else None
        except messages.BadBody as bad:
            fault, detail = bad.fault, describe_reply(reply.with_fault(bad.fault, bad.detail))
    exam.note(rule, call, fault, detail)
    return told, call
