// Run the page that opens a log file.

import { addPresentations, fetchPictures, openLog } from "../viewer/log_page.js";

const { faults, presentations } = JSON.parse(document.getElementById("replay").textContent);
addPresentations(presentations);
fetchPictures();

openLog(document.getElementById("open-log"), document.getElementById("viewer"), {
  faults,
  matchAddress: (id) => `/matches/${id}`,
});
