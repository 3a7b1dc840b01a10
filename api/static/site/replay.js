// The page on which a log can be opened.

import { opening } from "../viewer/whole.js";

const { faults } = JSON.parse(document.getElementById("replay").textContent);

opening(document.getElementById("opening"), document.getElementById("viewer"), {
  faults,
  matchAddress: (id) => `/matches/${id}`,
});
