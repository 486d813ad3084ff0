// The course of a game: moments are shown one after the other, then the person chooses.

import { closeCoach, openCoach, showHint } from "./coach.js";
import { fault, find, hurry, wait, withCards } from "./parts.js";
import { pace, preferences, prefer } from "./preferences.js";
import { ask } from "./server_link.js";
import { sound } from "./sound.js";
import { askPoints, countAloud, showResult, tellVerdict } from "./show.js";
import { drawTable, focusHand } from "./table.js";

const THINKING = 650, LOOKING = 450, LONG = 1500; // milliseconds

let id = null; // of the game that is open
let state = null; // what the server said last
let frame = null; // what is drawn
let chosen = []; // cards for the crib
let busy = false;

const names = () => [state.you, state.name];
const present = () => state.frames.at(-1);

export async function openGame(game) {
  id = game;
  state = frame = null;
  closeCoach();
  tellVerdict("");
  controls();
  for (const part of ["theirs", "middle", "mine", "actions"]) find(part).hidden = true;
  find("said").textContent = "The table is being set …";
  const found = await patiently(ask("look", { game })).finally(() => { if (id === game) find("said").textContent = ""; });
  if (id !== game) return;
  for (const part of ["theirs", "middle", "mine", "actions"]) find(part).hidden = false;
  // What has been seen is not shown again, but a show that has only begun is.
  const show = found.frames.findIndex(one => one.counted);
  if (found.over) return settle(found);
  found.frames = show < 0 ? found.frames.slice(-1) : found.frames.slice(Math.max(0, show - 1));
  await follow(found);
}

export function closeGame() {
  id = null;
  hurry();
  closeCoach();
}

// Sends a message about the game, and shows what came of it.
async function act(name, message) {
  if (busy) return;
  busy = true;
  controls();
  try {
    await follow(await patiently(ask(name, { game: id, ...message })));
  } catch (error) {
    busy = false;
    if (error.status === 409) return openGame(id).catch(fault);
    fault(error);
    draw(frame);
    controls();
  }
}

// While an answer takes long, the opponent is said to think.
async function patiently(answer) {
  const slow = setTimeout(() => {
    say(`${state?.name ?? "your opponent"} is thinking`);
    find("game").classList.add("thinking");
  }, LONG);
  try {
    return await answer;
  } finally {
    clearTimeout(slow);
    find("game").classList.remove("thinking");
  }
}

async function follow(found) {
  const game = id;
  busy = true;
  begin(found);
  for (const one of state.frames) {
    if (id !== game) return;
    await step(one);
  }
  if (id === game) settle(state);
}

function begin(found) {
  state = found;
  chosen = [];
  find("fault").hidden = true;
  find("against").textContent = state.people ? `${state.you} against ${state.name}` : `against ${state.name}${state.practice ? ", practice" : ""}`;
  document.title = `Cribbage against ${state.name}`;
  settings();
  controls();
}

// The present, as it stays until somebody acts.
function settle(found) {
  busy = false;
  begin(found);
  draw(present());
  if (state.over) showEnd();
  controls();
  openCoach({ ...state, again, showEnd });
}

function showEnd() {
  draw(present());
  showResult(present(), names());
  say(present().caption);
}

async function step(one) {
  if (one.mover === 1 && frame && !one.counted) await wait(THINKING * pace());
  sound(frame, one);
  if (one.counted) {
    draw(one);
    say(state.told);
    tellVerdict(state.told);
    state.told = "";
    await countAloud(one, names(), say);
    frame = one;
    if (one !== present() || state.over) await next(one);
  } else {
    draw(one);
    say(one.said.join(". "));
    if (one !== present()) await wait(LOOKING * pace());
  }
}

async function next(one) {
  const game = id;
  await new Promise(done => {
    button(state.over && one === present() ? "To the end of the game" : "Next", done);
    if (pace() === 0 && state.counting === "table") done();
  });
  if (id === game) button(null);
  tellVerdict("");
}

function draw(one) {
  const isNow = one === present() && !busy;
  drawTable(one, names(), isNow && state.choose ? { cards: chosen, many: one.count === null } : null);
  frame = one;
}

function say(text) {
  if (text) find("said").replaceChildren(`${text[0].toUpperCase()}${text.slice(1)}.`);
}

// One button for what comes next.
let onButton = null;
function button(label, then = null) {
  const made = find("do");
  onButton = then;
  made.hidden = label === null;
  made.disabled = then === null;
  if (label === null) return;
  made.replaceChildren(withCards(label));
  if (then && !find("game").contains(document.activeElement)) made.focus({ preventScroll: true });
}
find("do").addEventListener("click", () => onButton?.());

function controls() {
  const isMine = !busy && state && state.choose > 0, discards = isMine && present().count === null;
  find("prompt").textContent = "";
  button(null);
  find("hint").hidden = !isMine || state.people;
  find("rematch").hidden = busy || !state?.over;
  find("undo").hidden = busy || !state?.practice;
  Object.assign(find("game").dataset, { turn: !isMine ? (busy ? "wait" : state?.over ? "over" : state?.take ? "pass" : state && present().asks ? "count" : "wait") : discards ? "discard" : "play", at: state?.at ?? "" });
  if (busy || !state) return;
  if (state.over) {
    say(present().caption);
    button("New game", () => { location.hash = ""; });
  } else if (state.take) {
    find("prompt").textContent = `It is ${state.take}’s turn. Nobody else looks.`;
    button(`I am ${state.take}: show my cards`, () => act("take", { at: state.at }));
  } else if (discards) {
    const whose = present().sides[0].is_dealer ? "your crib" : `${state.name}’s crib`;
    const left = state.choose - chosen.length;
    find("prompt").textContent = left ? `Choose ${left === 1 ? "one card" : "two cards"} for ${whose}.` : "";
    if (!left) button(`Discard ${chosen.join(" ")}`, () => act("play", { at: state.at, cards: chosen }));
  } else if (present().asks) {
    const { counted, said } = present().asks;
    const count = points => act("count", { at: state.at, counted, points });
    find("said").textContent = said === null ? "" : `${state.name} says ${said}. Were any points missed?`;
    if (said !== null) button("Agreed", () => count(0));
    askPoints(present().asks, names(), count);
  } else if (isMine) {
    find("prompt").textContent = state.people ? `${state.you}, lay a card.` : "Lay a card.";
  }
  if (isMine && document.activeElement === document.body) focusHand();
}

function choose(card) {
  if (busy || !state?.choose) return;
  if (present().count !== null) { act("play", { at: state.at, cards: [card] }); return; }
  if (chosen.includes(card)) chosen = chosen.filter(one => one !== card);
  else if (chosen.length < state.choose) chosen = [...chosen, card];
  else chosen = [...chosen.slice(1), card];
  draw(frame);
  controls();
}

async function again(at) {
  try {
    location.hash = (await ask("again", { game: id, at })).game;
  } catch (error) {
    fault(error);
  }
}

find("mine").addEventListener("click", event => {
  const card = event.target.closest("button.card");
  if (card && !card.disabled) choose(card.dataset.card);
});
find("undo").addEventListener("click", () => act("back", { at: state.at }));
find("rematch").addEventListener("click", async () => {
  try { location.hash = (await ask("rematch", { game: id })).game; } catch (error) { fault(error); }
});
find("hint").addEventListener("click", async () => {
  try { showHint(await ask("hint", { game: id, at: state.at })); } catch (error) { fault(error); }
});

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || find("game").hidden) return;
  const inField = event.target.matches("input, select, textarea, summary"), asked = document.querySelector("#guess");
  const buttons = [...document.querySelectorAll("#mine .hand button")];
  const at = buttons.indexOf(document.activeElement);
  if (at >= 0 && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
    const step = event.key === "ArrowRight" ? 1 : -1;
    for (let k = at + step; k >= 0 && k < buttons.length; k += step) if (!buttons[k].disabled) { buttons[k].focus(); break; }
    event.preventDefault();
  } else if (!inField && asked && /^[0-9]$/.test(event.key)) {
    asked.focus(); // which the digit then goes to
  } else if (!inField && preferences.keys && /^[1-6]$/.test(event.key)) {
    const card = buttons[Number(event.key) - 1];
    card?.focus({ preventScroll: true });
    card?.click();
  } else if (event.key === "Enter" && onButton && event.target.matches("#mine .hand [aria-pressed=true]")) {
    event.preventDefault(); // the chosen cards are discarded; the space bar takes this one back
    onButton();
  } else if (event.target === document.body && (event.key === "Enter" || event.key === " ")) {
    if (onButton) onButton(); else hurry();
    event.preventDefault();
  }
});

// Settings: of the game, and of the reader.

function settings() {
  const form = find("settings");
  form.coach.value = state.coach;
  form.counting.value = state.counting;
  form.coach.disabled = form.counting.disabled = state.people;
}

const form = find("settings");
form.pace.value = preferences.pace;
form.four.checked = preferences.four;
form.keys.checked = preferences.keys;
form.sound.checked = preferences.sound;
form.addEventListener("submit", event => event.preventDefault());
form.addEventListener("change", async event => {
  prefer({ pace: form.pace.value, four: form.four.checked, keys: form.keys.checked, sound: form.sound.checked });
  if (!["coach", "counting"].includes(event.target.name) || !id) return;
  try {
    const found = await ask("set", { game: id, coach: form.coach.value, counting: form.counting.value });
    if (present().asks) return openGame(id);
    Object.assign(state, { coach: found.coach, counting: found.counting });
    openCoach({ ...state, again, showEnd });
  } catch (error) {
    fault(error);
  }
});
