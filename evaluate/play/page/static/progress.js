// What the games of the person say: errors, luck, and a rating.

import { drawn, element, fault, find } from "./parts.js";
import { ask } from "./server_link.js";

export function closeProgress() {
  find("progress").open = false;
}

find("progress").addEventListener("toggle", async () => {
  if (!find("progress").open) return;
  const box = find("progress").querySelector("div"), found = await ask("progress").catch(fault);
  if (!found) return;
  const row = ([title, figures]) => element("tr", {}, element("th", { scope: "row" }, title), element("td", {}, figures));
  box.replaceChildren(rated(found), element("table", {}, element("tbody", {}, ...found.rows.map(row))), ...found.charts.map(chart),
    element("p", { className: "figures" }, "Games count once they are over and the coach has looked through them. Intervals are of 95 %. In the charts dots are games, and the line is over ten games each."));
});

function rated({ rating, rows }) {
  if (!rating) return element("p", {}, rows.length ? "A rating needs two games." : "Play a game to its end, and its review counts here.");
  const [now, low, high] = [rating.rating, rating.low, rating.high].map(one => Math.round(one));
  return element("p", {}, "Your rating by your errors is ", element("strong", {}, `${now} (${low} to ${high})`), `: you have reached ${rating.level}. Best has 2000.`);
}

// A figure game by game, from its lowest to its highest.
function chart({ title, dots, line }) {
  const marks = dots.length ? [...dots, ...line, 0] : line, low = Math.min(...marks), high = Math.max(...marks);
  const told = one => String(Math.abs(one) < 100 ? Math.round(10 * one) / 10 || 0 : Math.round(one)).replace("-", "−");
  const x = k => 44 + 250 * k / (line.length - 1), y = one => 8 + 64 * (high - one) / (high - low || 1);
  return element("figure", {}, element("figcaption", {}, title),
    drawn("svg", { class: "chart", viewBox: "0 0 300 80", role: "img", "aria-label": `${title}: from ${told(low)} to ${told(high)}, last ${told(line.at(-1))}` },
      ...[...new Set([low, high, ...dots.length ? [0] : []])].flatMap(one => [drawn("path", { d: `M44 ${y(one)}H294` }), drawn("text", { x: 40, y: y(one) + 4 }, told(one))]),
      ...dots.map((one, k) => drawn("circle", { cx: x(k), cy: y(one), r: 2.5 })),
      drawn("path", { class: "trend", d: `M${line.map((one, k) => `${x(k)} ${y(one)}`).join("L")}` })));
}
