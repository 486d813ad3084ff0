// What the games of the person say: errors, luck, and a rating.

import { element, fault, find } from "./parts.js";
import { ask } from "./server_link.js";

export function closeProgress() {
  find("progress").open = false;
}

find("progress").addEventListener("toggle", async () => {
  if (!find("progress").open) return;
  const box = find("progress").querySelector("div"), found = await ask("progress").catch(fault);
  if (!found) return;
  const row = ([title, figures]) => element("tr", {}, element("th", { scope: "row" }, title), element("td", {}, figures));
  box.replaceChildren(rated(found), element("table", {}, element("tbody", {}, ...found.rows.map(row))),
    element("p", { className: "figures" }, "Games count once they are over and the coach has looked through them. Intervals are of 95 %."));
});

function rated({ rating, rows }) {
  if (!rating) return element("p", {}, rows.length ? "A rating needs two games." : "Play a game to its end, and its review counts here.");
  const [now, low, high] = [rating.rating, rating.low, rating.high].map(one => Math.round(one));
  return element("p", {}, "Your rating by your errors is ", element("strong", {}, `${now} (${low} to ${high})`), `: you have reached ${rating.level}. Best has 2000.`);
}
