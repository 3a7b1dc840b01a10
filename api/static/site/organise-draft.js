// Show a draft to those who run it: ask for its page again with the token, which browsers do not send by themselves.
import { localMoments } from "./local_time.js";
import { signedIn } from "./organise-shared.js";
import { rendered } from "./renewal.js";
import { token } from "./session.js";

signedIn(async () => {
  const whole = await rendered(token());
  if (!whole?.querySelector("[data-tournament]")) {
    document.querySelector("[data-not-yours]").hidden = false;
    return;
  }
  localMoments(whole);
  document.title = whole.title;
  document.getElementById("main").replaceChildren(...whole.getElementById("main").childNodes);
  for (const { src } of whole.querySelectorAll("script[src]")) await import(src);
});
