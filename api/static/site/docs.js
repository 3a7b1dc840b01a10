// Show the OpenAPI document with Swagger UI, in dark mode if the reader prefers it.

const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

/** The page has its own main part, in which that of Swagger UI is a group. */
const onComplete = () => document.querySelector("#docs main")?.setAttribute("role", "group");

SwaggerUIBundle({ url: "/api/v1/openapi.json", dom_id: "#docs", deepLinking: true, validatorUrl: null, onComplete });
