// Look at one in `every` events of a match and return what is wrong with the layout of the table, as texts.
(every) => {
  const root = document.querySelector(".viewer");
  const all = (selector, within = root) => [...within.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  const button = (label) => document.querySelector(`button[aria-label^="${label}"]`);
  const boxOf = (one) => one.getBoundingClientRect();
  const inside = (inner, outer) => inner.left >= outer.left - 1 && inner.top >= outer.top - 1 && inner.right <= outer.right + 1 && inner.bottom <= outer.bottom + 1;
  const overlap = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1;
  const nameOf = (one) => `${one.className} “${one.textContent.slice(0, 40)}”`;
  const window_ = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const found = new Map();
  const wrong = (what) => found.set(what, found.get(what) ?? Number(root.dataset.at));

  const lookAt = () => {
    const parts = all(".play-area > .head, .seat, .centre, .sentence, .controls");
    const boxes = parts.map(boxOf);
    parts.forEach((part, place) => {
      if (!inside(boxes[place], window_)) wrong(`out of the window: ${nameOf(part)}`);
      for (let other = 0; other < place; other++) if (overlap(boxes[place], boxes[other])) wrong(`overlap: ${nameOf(part)}, ${nameOf(parts[other])}`);
    });
    for (const seat of all(".seat")) lookAtSeat(seat);
    lookAtCentre(root.querySelector(".centre"));
    for (const one of all(".where b, .phase, .badge, .step, .chips, .mark, .label, .note b, .board b, .space")) {
      if (one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflow !== "visible") wrong(`cut: ${nameOf(one)}`);
    }
    const [head] = parts;
    if (head.scrollWidth > head.clientWidth + 1) wrong("the head is too wide");
    const sentence = root.querySelector(".sentence");
    if (sentence.scrollHeight > sentence.clientHeight + 1) wrong(`cut: ${nameOf(sentence)}`);
    return JSON.stringify(boxes.map(({ left, top, width, height }) => [left, top, width, height].map(Math.round)));
  };
  const lookAtSeat = (seat) => {
    const box = boxOf(seat);
    const plate = boxOf(seat.querySelector(".plate"));
    const line = boxOf(seat.querySelector(".says"));
    const speaks = all(".bubble", seat).length > 0;
    const texts = all(".chips, .mark, .bubble", seat);
    for (const one of texts) if (!inside(boxOf(one), one.className === "bubble" ? box : line) && !(speaks && one.className === "mark")) wrong(`cut: ${nameOf(one)}`);
    for (const fan of all(".fan", seat)) {
      const faces = all(".face", fan).map(boxOf);
      faces.forEach((face, place) => {
        if (!inside(face, box)) wrong(`a card is outside of its seat: ${nameOf(seat)}`);
        if (overlap(face, plate)) wrong(`a card covers a name: ${nameOf(seat)}`);
        if (face.width < 19) wrong(`tiny card: ${face.width.toFixed(0)}`);
        const next = faces[place + 1];
        if (next && next.top === face.top && next.left - face.left < 6) wrong(`covered card: ${(next.left - face.left).toFixed(1)}`);
      });
    }
  };
  const lookAtCentre = (centre) => {
    const box = boxOf(centre);
    const items = all(".item, .aloud", centre).filter((one) => one.textContent || one.className !== "aloud");
    items.forEach((item, place) => {
      if (!inside(boxOf(item), box)) wrong(`outside of the middle: ${nameOf(item)}`);
      for (const one of all(".face, .label, .count, .note b, .pot b, .space", item)) if (!inside(boxOf(one), box)) wrong(`outside of the middle: ${nameOf(one)} of ${nameOf(item)}`);
      for (let other = 0; other < place; other++) if (overlap(boxOf(item), boxOf(items[other]))) wrong(`overlap: ${nameOf(item)}, ${nameOf(items[other])}`);
    });
    for (const face of all(".item-cards .face", centre)) if (boxOf(face).width < 17) wrong(`tiny card in the middle: ${boxOf(face).width.toFixed(0)}`);
    sizes.add(Math.round(parseFloat(getComputedStyle(centre.querySelector(".probe")).width)));
  };

  const sizes = new Set();
  button("First event").click();
  const first = lookAt();
  const goOn = () => {
    const listed = [...root.querySelectorAll(".event-list button")]; // of the round
    const at = listed.findIndex((one) => one.getAttribute("aria-current"));
    const isLast = at < 0 || at === listed.length - 1;
    (every === 1 || isLast ? button("Next event") : listed[Math.min(at + every, listed.length - 1)]).click();
  };
  for (;;) {
    const now = lookAt();
    if (now !== first) wrong(`parts move: ${first} became ${now}`);
    if (button("Next event").disabled) break;
    goOn();
  }
  if (sizes.size > 1) wrong(`cards of the middle change their size: ${[...sizes]}`);
  if (scrollY || document.documentElement.scrollWidth > innerWidth) wrong("the page has scrolled");
  return [...found].map(([what, at]) => `event ${at + 1}: ${what}`);
}
