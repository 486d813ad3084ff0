// What the page shows: the list of games, the lesson, or the game that the address names.

import { closeGame, goOn, openGame } from "./game.js";
import { closeLesson, openLesson } from "./lesson.js";
import { openLobby } from "./lobby.js";
import { fault, find } from "./parts.js";
import { apply } from "./preferences.js";

const LESSON = "lesson";

async function route() {
  const [game, ...rest] = location.hash.slice(1).split("/"); // of a game, the moment to look at, and the game it comes from
  find("fault").hidden = true;
  find("lobby").hidden = Boolean(game);
  find("lesson").hidden = game !== LESSON;
  find("game").hidden = !game || game === LESSON;
  closeGame();
  closeLesson();
  try {
    if (game === LESSON) await openLesson(); else if (game) await openGame(game, ...rest); else await openLobby();
  } catch (error) {
    fault(error);
  }
}

apply();
addEventListener("hashchange", route);
find("table").addEventListener("click", event => { if (!event.target.closest("button, a, #line")) goOn(); });
route();
