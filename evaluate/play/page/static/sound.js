// A card on the table and a peg in its hole: made here, without files, and only for those who ask for them.

import { preferences } from "./preferences.js";

let context = null;

// What changed between two moments, to be heard.
export function sound(before, now) {
  if (!preferences.sound || !before) return;
  const points = side => now.sides[side].score - before.sides[side].score;
  if (now.laid.length !== before.laid.length || now.crib.length !== before.crib.length) knock(1800, 0.05, 0);
  for (let k = 0; k < Math.min(4, points(0) + points(1)); k++) knock(620, 0.07, 0.12 + 0.09 * k);
}

// Filtered noise that dies away.
function knock(pitch, seconds, after) {
  context ??= new AudioContext();
  const many = Math.round(context.sampleRate * seconds), noise = context.createBuffer(1, many, context.sampleRate);
  const wave = noise.getChannelData(0);
  for (let k = 0; k < many; k++) wave[k] = (2 * Math.random() - 1) * (1 - k / many) ** 3;
  const source = new AudioBufferSourceNode(context, { buffer: noise });
  source.connect(new BiquadFilterNode(context, { type: "bandpass", frequency: pitch, Q: 2 })).connect(context.destination);
  source.start(context.currentTime + after);
}
