// Show the result of a match as a table.

import { make, nameOf, tableOf, text } from "./dom.js";
import { numberWords } from "./words.js";

/** Return the result as a table, `botAddress(player)` returns the page of a bot, or null. */
export function resultPanel(replay, botAddress) {
  const { result, header } = replay;
  const seats = header.players.map((_, seat) => seat);
  seats.sort((left, right) => result.placements[left] - result.placements[right] || left - right);
  const rows = seats.map((seat) => [
    playerOf(header.players[seat], botAddress), String(result.placements[seat]), String(seat + 1), text(header.players[seat].version ?? "–"),
    numberWords(result.scores[seat]), signed(result.returns[seat]), faultsOf(result.faults[seat]),
  ]);
  return make("section", { class: "panel" }, make("h2", {}, "Result"),
    tableOf("Final ranks", ["Player", "Rank", "Seat", "Version", "Score", "Returns", "Faults"], rows, { numbers: [1, 2, 4, 5, 6] }));
}

function playerOf(player, botAddress) {
  const address = botAddress?.(player);
  return address ? make("a", { href: address }, nameOf(player.name)) : nameOf(player.name);
}

function signed(number) {
  return number > 0 ? `+${number}` : numberWords(number);
}

function faultsOf(count) {
  return count ? make("span", { class: "bad" }, String(count)) : "0";
}
