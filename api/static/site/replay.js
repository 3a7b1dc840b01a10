// Run the page that opens a log file.

import { openLog } from "../viewer/whole.js";

const { faults } = JSON.parse(document.getElementById("replay").textContent);

openLog(document.getElementById("open-log"), document.getElementById("viewer"), {
  faults,
  matchAddress: (id) => `/matches/${id}`,
});
