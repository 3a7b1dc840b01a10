// Show times in the reader's time zone and, to a signed-in person, how much is unread in their inbox, on every page.
import { localMoments } from "./local_time.js";

localMoments(document);

/** Return whether somebody is signed in. The module that knows is fetched only for them. */
function isSignedIn() {
  try {
    return (sessionStorage.getItem("referee.token") ?? localStorage.getItem("referee.token")) !== null;
  } catch {
    return false; // the browser refuses storage
  }
}

if (isSignedIn()) import("./inbox_count.js").then(({ countUnread }) => countUnread());
