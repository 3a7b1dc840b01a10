// Show times in the reader's time zone and load what extras show to a signed-in person, on every page.
import { localMoments } from "./local_time.js";

localMoments(document);

/** Return whether somebody is signed in. Modules of extras are fetched only for them. */
function isSignedIn() {
  try {
    return (sessionStorage.getItem("referee.token") ?? localStorage.getItem("referee.token")) !== null;
  } catch {
    return false; // the browser refuses storage
  }
}

if (isSignedIn()) for (const module of document.body.dataset.signedInModules.split(" ").filter(Boolean)) import(module);
