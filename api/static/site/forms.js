// Make forms call the API. Its errors appear beside their fields, and typed values are kept.
import { byId, element, focusHeld } from "./dom.js";
import { Refused, leave } from "./session.js";

/**
 * Call `send(values)` when the form is submitted with all required fields that are visible, and disable its buttons
 * meanwhile. If `send` throws, show errors of fields beside the fields (`names` maps fields of the API to those of the form), and others above the form's buttons.
 */
export function onSubmit(form, send, names = {}) {
  form.noValidate = true; // the API validates
  for (const button of form.querySelectorAll("button")) button.disabled = false; // they are disabled until this script runs
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearErrors(form);
    const empty = [...form.elements].filter((field) => field.required && field.checkVisibility() && !field.value.trim());
    if (empty.length) {
      const errors = empty.map(({ name }) => ({ field: name, message: "This field is required." }));
      showErrors(form, new Refused(422, { errors }));
      return;
    }
    const buttons = form.querySelectorAll("button");
    const held = focusHeld();
    for (const button of buttons) button.disabled = true;
    try {
      await send(Object.fromEntries(new FormData(form)));
    } catch (error) {
      showErrors(form, error, names);
    } finally {
      for (const button of buttons) button.disabled = false;
      held();
    }
  });
}

/** Let the button sign out and remove all data of the account from the page. */
export function wireSignOut(button) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    const problem = await leave();
    if (problem === null) location.reload();
    else byId("main").replaceChildren(element("p", { class: "notice warn", role: "alert" }, problem));
  });
}

/** Return an error of a field, for values that the page itself refuses. */
export function wrong(field, message) {
  return new Refused(422, { detail: message, errors: [{ field, message }] });
}

/**
 * Disable the fields of a form while `load` fills it, since what is entered meanwhile would be overwritten. They stay
 * disabled if it fails: an empty form would overwrite what is stored. Call `onSubmit` before.
 */
export async function fillForm(form, load) {
  for (const field of form.elements) field.disabled = true;
  await load();
  for (const field of form.elements) field.disabled = false;
}

export function clearErrors(form) {
  for (const note of form.querySelectorAll(".error")) note.remove();
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    describe(field, null);
  }
}

export function showErrors(form, error, names = {}) {
  const fields = error instanceof Refused ? error.fields : {};
  const rest = [];
  let first = null;
  for (const [name, message] of Object.entries(fields)) {
    const field = form.elements[names[name] ?? name];
    if (field instanceof HTMLElement) {
      beside(field, message);
      first ??= field;
    } else rest.push(`${name}: ${asSentence(message)}`);
  }
  if (!first && !rest.length) rest.push(error.message);
  if (rest.length) {
    const note = element("p", { class: "error", role: "alert", tabindex: -1 }, rest.join(" "));
    form.querySelector("button:not([type=button])").before(note);
    first ??= note;
  }
  first.focus();
  if (!(error instanceof Refused)) throw error; // a bug: report it on the console too
}

function beside(field, message) {
  const id = `${field.id}-error`;
  field.closest("details")?.setAttribute("open", ""); // otherwise neither the error nor the focus is visible
  field.setAttribute("aria-invalid", "true");
  field.after(element("p", { class: "error", id }, asSentence(message)));
  describe(field, id);
}

/** Return a message of the API as a sentence, without the code before it, such as `port_denied:`. */
function asSentence(message) {
  const text = message.replace(/^[a-z]+_[a-z]+: /, "");
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

/** Point the field at its error and its hint. */
function describe(field, id) {
  const hint = field.dataset.hint;
  const all = [hint, id].filter(Boolean).join(" ");
  if (all) field.setAttribute("aria-describedby", all);
  else field.removeAttribute("aria-describedby");
}

/** Return a new Idempotency-Key. */
export function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return {note, attempt}: `attempt(act)` returns whether `act` succeeded, and shows its error in the element `note`. */
export function attempts() {
  const note = element("p", { class: "error", role: "alert", hidden: true });
  const attempt = async (act) => {
    note.hidden = true;
    try {
      await act();
      return true;
    } catch (error) {
      note.textContent = error.message;
      note.hidden = false;
      return false;
    }
  };
  return { note, attempt };
}

/**
 * Return a button that calls `act` when it is clicked twice. After the first click it shows `question` for 5 s. The second
 * half of a double click and a repeated key do not confirm.
 */
export function sureButton(text, question, act) {
  const button = element("button", { type: "button", class: "danger" }, text);
  let timer = 0;
  const calm = () => {
    timer = 0;
    button.textContent = text;
  };
  button.addEventListener("keydown", (event) => event.repeat && event.preventDefault());
  button.addEventListener("click", async (event) => {
    if (timer && event.detail > 1) return;
    if (!timer) {
      button.textContent = question;
      timer = setTimeout(calm, 5_000);
      return;
    }
    clearTimeout(timer);
    calm();
    await act();
  });
  return button;
}
