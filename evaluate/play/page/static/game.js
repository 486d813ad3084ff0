// The course of a game: moments are shown one after the other, then the person chooses.

import { closeCoach, openCoach, showHint } from "./coach.js";
import { element, fault, find, hurry, offer, picture, sentence, wait, withCards } from "./parts.js";
import { pace, preferences, prefer } from "./preferences.js";
import { ask } from "./server_link.js";
import { askPoints, clearShow, countAloud, showResult, tellVerdict, typePoints } from "./show.js";
import { drawTable, focusHand } from "./table.js";

const THINKING = 650, LOOKING = 450, FORCED = 500, CUT = 2200, HAND = 1400, LONG = 1500; // milliseconds

let id = null; // of the game that is open
let state = null; // what the server said last
let frame = null; // what is drawn
let chosen = []; // cards for the crib
let busy = false;
let origin = []; // the game from which this one was begun again, and the moment
let going = null; // what a tap or a key goes on with

const names = () => [state.you, state.name];
const present = () => state.frames.at(-1);

export async function openGame(game, at = "", from = "") {
  id = game;
  origin = from ? [from, at] : [];
  state = frame = null;
  closeCoach();
  tellVerdict("");
  controls();
  find("table").classList.add("setting");
  find("said").textContent = "The table is being set …";
  const found = await patiently(ask("look", { game })).finally(() => { if (id === game) find("said").textContent = ""; });
  if (id !== game) return;
  find("table").classList.remove("setting");
  // What has been seen is not shown again, but a show that has only begun is.
  const show = found.frames.findIndex(one => one.counted);
  if (found.over) return settle(found, at);
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
  await showCut();
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
  find("against").textContent = state.people ? `${state.you} against ${state.name}` : `${state.day ? `the deal of ${state.day}` : `against ${state.name}`}${state.practice ? ", practice" : ""}`;
  find("origin").hidden = !origin.length;
  if (origin.length) find("origin").href = `#${origin.join("/")}`;
  document.title = `Cribbage against ${state.name}`;
  settings();
  controls();
}

// The present, as it stays until somebody acts.
function settle(found, at = "") {
  busy = false;
  begin(found);
  draw(present());
  if (state.over) showEnd();
  controls();
  openCoach({ ...state, again, showEnd, at: at && !origin.length ? Number(at) : state.at });
  layForced();
}

// The only card that fits is laid by itself.
async function layForced() {
  const legal = present().sides[0].legal, game = id, { at } = state;
  if (!preferences.forced || state.people || !state.choose || present().count === null || legal.length > 1) return;
  await wait(FORCED * pace());
  if (id === game && state.at === at && !busy) act("play", { at, cards: legal });
}

// Who deals first was cut for.
async function showCut() {
  if (!state.cut.length || state.practice || frame) return;
  draw(present());
  const card = (one, k) => element("figure", {}, picture("A23456789TJQK"[one % 13] + "CDHS"[Math.floor(one / 13)]), element("figcaption", {}, `${names()[k]} cut${k || state.people ? "s" : ""}`));
  const dealer = present().sides[0].is_dealer ? 0 : 1, says = `${names()[dealer]} deal${dealer || state.people ? "s" : ""}`;
  find("show").replaceChildren(element("div", { className: "cut" }, ...state.cut.map(card)));
  find("show").hidden = false;
  say(`the lower card deals: ${says}`);
  await wait(CUT * pace());
  find("show").replaceChildren();
  find("show").hidden = true;
}

function showEnd() {
  draw(present());
  showResult(present(), names());
  say(present().caption);
}

async function step(one) {
  if (one.mover === 1 && frame && !one.counted) await wait(THINKING * pace());
  if (one.counted) {
    const was = frame ?? one, asks = preferences.count && !one.counted.seat && !state.people, game = id;
    draw({ ...one, sides: one.sides.map((side, k) => ({ ...side, score: was.sides[k].score, rear_peg: was.sides[k].rear_peg })) });
    if (asks) await countFirst(one.counted);
    if (id !== game) return;
    await countAloud(one, names(), say);
    if (id !== game) return;
    draw(one);
    if (one.counted.crib || asks) await next(); else await wait(HAND * pace());
    tellVerdict("");
  } else {
    clearShow();
    draw(one);
    say(...one.said);
    if (one !== present()) await wait(LOOKING * pace());
  }
}

// The person says what a hand of its own is worth, before the table does.
async function countFirst(hand) {
  const game = id;
  find("game").dataset.turn = "count";
  find("said").textContent = "How many points?";
  const points = await new Promise(done => askPoints(hand, names(), done)), missed = hand.points - points;
  if (id !== game) return;
  find("game").dataset.turn = "wait";
  tellVerdict(missed > 0 ? `you counted ${points} of ${hand.points}: you missed ${missed}` : missed ? `${points} is too many: it is ${hand.points}` : `${points} is right`);
}

// Once a deal, somebody says that they have seen enough.
async function next() {
  const game = id;
  await new Promise(done => {
    going = done;
    button("Go on", done);
    if (pace() === 0 && !preferences.count) done();
  });
  going = null;
  if (id === game) button(null);
}

export function goOn() {
  if (going) going(); else hurry();
}

function draw(one) {
  const isNow = one === present() && !busy;
  drawTable(one, names(), isNow && state.choose ? { cards: chosen, many: one.count === null } : null);
  frame = one;
}

function say(...lines) {
  if (lines.some(Boolean)) find("said").replaceChildren(lines.map(sentence).join(" "));
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
  find("hint").hidden = !isMine || state.people || Boolean(state.day && !state.practice);
  find("leave").hidden = busy || !state?.over;
  find("undo").hidden = busy || !state?.undo;
  Object.assign(find("game").dataset, { turn: !isMine ? (busy ? "wait" : state?.over ? "over" : state?.take ? "pass" : "wait") : discards ? "discard" : "play", at: state?.at ?? "" });
  if (busy || !state) return;
  if (state.over) {
    say(present().caption);
    button(state.day ? "Play a whole game" : "Rematch", rematch);
  } else if (state.take) {
    find("prompt").textContent = `It is ${state.take}’s turn. Nobody else looks.`;
    button(`I am ${state.take}: show my cards`, () => act("take", { at: state.at }));
  } else if (discards) {
    const whose = present().sides[0].is_dealer ? "your crib" : `${state.name}’s crib`;
    const left = state.choose - chosen.length;
    find("prompt").textContent = left ? `${left === 1 ? "One card" : "Two cards"} for ${whose}.` : "";
    if (!left) button(`Discard ${chosen.join(" ")}`, () => act("play", { at: state.at, cards: chosen }));
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

async function rematch() {
  try { location.hash = (await ask("rematch", { game: id })).game; } catch (error) { fault(error); }
}

async function again(at) {
  try {
    location.hash = `${(await ask("again", { game: id, at })).game}/${at}/${id}`;
  } catch (error) {
    fault(error);
  }
}

find("mine").addEventListener("click", event => {
  const card = event.target.closest("button.card");
  if (card && !card.disabled) choose(card.dataset.card);
});
find("undo").addEventListener("click", () => act("back", { at: state.at }));
find("hint").addEventListener("click", async () => {
  try { showHint(await ask("hint", { game: id, at: state.at })); } catch (error) { fault(error); }
});

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || find("game").hidden) return;
  const inField = event.target.matches("input, select, textarea, summary");
  const buttons = [...document.querySelectorAll("#mine .hand button")];
  const at = buttons.indexOf(document.activeElement);
  if (at >= 0 && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
    const step = event.key === "ArrowRight" ? 1 : -1;
    for (let k = at + step; k >= 0 && k < buttons.length; k += step) if (!buttons[k].disabled) { buttons[k].focus(); break; }
    event.preventDefault();
  } else if (!inField && find("guess") && /^[0-9]$/.test(event.key)) {
    typePoints(event.key);
  } else if (!inField && event.key === "r" && state?.over && !busy) {
    rematch();
  } else if (!inField && preferences.keys && /^[1-6]$/.test(event.key)) {
    const card = buttons[Number(event.key) - 1];
    card?.focus({ preventScroll: true });
    card?.click();
  } else if (event.key === "Enter" && onButton && event.target.matches("#mine .hand [aria-pressed=true]")) {
    event.preventDefault(); // the chosen cards are discarded; the space bar takes this one back
    onButton();
  } else if (event.target === document.body && (event.key === "Enter" || event.key === " ")) {
    if (onButton) onButton(); else goOn();
    event.preventDefault();
  }
});

// Settings: of the game, and of the reader.

function settings() {
  offer(form.coach, state.coach);
  form.coach.disabled = state.people || Boolean(state.day);
}

const form = find("settings"), CHECKED = ["four", "keys", "forced", "count"];
form.pace.value = preferences.pace;
for (const name of CHECKED) form[name].checked = preferences[name];
form.addEventListener("submit", event => event.preventDefault());
form.addEventListener("change", async event => {
  prefer({ pace: form.pace.value, ...Object.fromEntries(CHECKED.map(name => [name, form[name].checked])) });
  if (event.target.name !== "coach" || !id) return;
  try {
    state.coach = (await ask("set", { game: id, coach: form.coach.value })).coach;
    openCoach({ ...state, again, showEnd });
  } catch (error) {
    fault(error);
  }
});
