// Draw the table on the page of a game.

import { drawStill } from "../viewer/still_page.js";

const root = document.getElementById("still");

drawStill(root, JSON.parse(document.getElementById("sample").textContent)).then(() => root.removeAttribute("aria-busy"));
