// Find the moments of a match that deserve attention: faults, and where the winner took the lead for good.

/** Return the highlights of a finished match in order, each {at, kind: "fault" or "turning"}. */
export function highlightsOf(replay) {
  const faults = replay.moments.flatMap(({ first }, at) => (first && replay.rowAt(at)?.fault ? [{ at, kind: "fault" }] : []));
  const turning = turningPointOf(replay);
  return [...faults, ...(turning < 0 ? [] : [{ at: turning, kind: "turning" }])].sort((one, other) => one.at - other.at);
}

/**
 * Return the moment from which the winner's score was better than all others until the end. Return -1 without a single
 * winner, and if the scores do not show who won.
 */
export function turningPointOf({ result, scores }) {
  const winners = winnersOf(result);
  const last = scores.at(-1)?.scores;
  if (winners.length !== 1 || !last) return -1;
  const [winner] = winners;
  const others = last.filter((_, seat) => seat !== winner);
  const direction = last[winner] > Math.max(...others) ? 1 : last[winner] < Math.min(...others) ? -1 : 0;
  const leads = (change) => change.scores.every((score, seat) => seat === winner || (change.scores[winner] - score) * direction > 0);
  if (!direction || !others.length) return -1;
  const behind = scores.findLastIndex((change) => !leads(change));
  return scores[behind + 1].at;
}

/** Return the seats placed first, or [] without a result. */
export function winnersOf(result) {
  return (Array.isArray(result?.placements) ? result.placements : []).flatMap((placement, seat) => (placement === 1 ? [seat] : []));
}
