// The line of the chance to win, with the errors and the luck of a finished game on it.

import { drawn, element, find } from "./parts.js";

const WIDTH = 960, HEIGHT = 64, LEFT = 40, RIGHT = 900;

export const percent = chance => `${(100 * chance).toFixed(1)} %`;

// Points are [deals, chance, cards played]; a click picks the nearest one.
export function drawLine(points, { luck = [], errors = new Map(), pick = null, at = null } = {}) {
  const box = find("line");
  box.replaceChildren();
  if (points.length < 1) return;
  const deals = Math.max(4, Math.ceil(points.at(-1)[0] + 0.01));
  const x = deal => LEFT + (RIGHT - LEFT) * deal / deals, y = chance => 6 + (HEIGHT - 12) * (1 - Math.min(1, Math.max(0, chance)));
  const shown = points.findLast(point => at === null || point[2] <= at) ?? points[0];
  const path = points.map(([deal, chance]) => `${x(deal).toFixed(1)} ${y(chance).toFixed(1)}`).join("L");
  const marks = [];
  for (let deal = 1; deal < deals; deal++) marks.push(`M${x(deal)} 6V${HEIGHT - 6}`);
  const dot = (point, kind) => drawn("path", { class: kind, d: `M${x(point[0])} ${y(point[1])}h0` });
  const line = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": `your chance to win between equals: ${percent(shown[1])}` },
    drawn("path", { class: "marks", d: marks.join("") }),
    drawn("path", { class: "half", d: `M${LEFT} ${y(0.5)}H${RIGHT}` }),
    ...luck.map((share, deal) => drawn("path", { class: `luck seat-${share < 0 ? 1 : 0}`, d: `M${x(deal + 0.06)} ${y(0.5)}V${y(0.5 + share)}` })),
    drawn("path", { class: "under", d: `M${x(points[0][0])} ${y(0)}L${path}L${x(points.at(-1)[0])} ${y(0)}Z` }),
    drawn("path", { class: "chance", d: `M${path}` }),
    ...points.filter(point => errors.has(point[2])).map(point => dot(point, errors.get(point[2]))),
    dot(shown, "dot"));
  if (pick) {
    line.classList.add("picks");
    line.addEventListener("click", event => {
      const edge = line.getBoundingClientRect(), deal = (WIDTH * (event.clientX - edge.x) / edge.width - LEFT) / (RIGHT - LEFT) * deals;
      pick(points.reduce((one, other) => Math.abs(other[0] - deal) < Math.abs(one[0] - deal) ? other : one)[2]);
    });
  }
  box.append(line, element("span", { className: "now", ariaHidden: "true" }, "chance to win between equals ", element("strong", {}, percent(shown[1]))));
}
