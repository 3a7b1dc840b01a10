// Fetch the parts of the viewer that its first picture does not need.

const PARTS = {
  Flights: async () => (await import("./flights.js")).Flights, // when a match is first played
  Ending: async () => (await import("./ending.js")).Ending, // when it has been watched to its end
  checkLog: async () => (await import("./match_log.js")).checkLog, // when the log is open
  helpDialog: async () => (await import("./help.js")).helpDialog, // when the keys are asked for
  questionView: async () => (await import("./question.js")).questionView, // when a question is opened
  resultPanel: async () => (await import("./result.js")).resultPanel, // where the page does not show the result itself
};

/** Use these parts, by name, instead of fetching them. */
export function addParts(parts) {
  for (const [name, part] of Object.entries(parts)) PARTS[name] = async () => part;
}

/** Return a promise of a part. */
export const fetchPart = (name) => PARTS[name]();
