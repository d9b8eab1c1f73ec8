// Small charts: values over time, and counts on a logarithmic scale.

import { draw } from './dom.js';

const WIDTH = 340;
const HEIGHT = 130;
const LEFT = 36;
const RIGHT = 10;
const TOP = 8;
const BOTTOM = 24;

function frame(label) {
  return draw('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: 'chart', role: 'img', 'aria-label': label });
}

function across(x, least, most) {
  return LEFT + (most > least ? (x - least) / (most - least) : 0) * (WIDTH - LEFT - RIGHT);
}

function up(share) {
  return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
}

function rung(y, text) {
  return [draw('line', { x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y, class: 'rung' }),
    draw('text', { x: LEFT - 5, y: y + 4, 'text-anchor': 'end' }, text)];
}

/** A line chart of scores from 0 to 100. `lines` are `{index, name, points: [[x, score]], dashed}`. */
export function scores(lines, unit, label) {
  const chart = frame(label);
  const all = lines.flatMap(({ points }) => points.map(([x]) => x));
  const least = Math.min(...all, 0);
  const most = Math.max(...all, unit === 's' ? 0.1 : 1);
  for (const score of [0, 50, 100]) chart.append(...rung(up(score / 100), String(score)));
  for (const { index, name, points, dashed } of lines) {
    if (points.length === 0) continue;
    const at = points.map(([x, y]) => [across(x, least, most), up(Math.min(Math.max(y, 0), 100) / 100)]);
    const through = at.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
    chart.append(draw('polyline', { points: through, class: 'edge' }), draw('polyline', { points: through, class: `line r${index % 8}${dashed ? ' dashed' : ''}` }, draw('title', {}, name)));
    const [x, y] = at[at.length - 1];
    chart.append(draw('circle', { cx: x.toFixed(1), cy: y.toFixed(1), r: 3, class: `end r${index % 8}` }));
  }
  const written = (x) => (unit === 's' ? `${x.toFixed(1)} s` : `${unit} ${x}`);
  chart.append(draw('text', { x: LEFT, y: HEIGHT - 6 }, written(least)),
    draw('text', { x: WIDTH - RIGHT, y: HEIGHT - 6, 'text-anchor': 'end' }, written(most)));
  return chart;
}

/** A chart of new positions by depth, with a logarithmic scale. */
export function levels(counts) {
  const peak = Math.max(...counts, 1);
  const chart = frame(`New positions by depth, from 0 to ${counts.length - 1}; at most ${peak.toLocaleString('en')}`);
  const top = Math.max(Math.ceil(Math.log10(peak)), 1);
  const step = Math.ceil(top / 4);
  for (let power = 0; power <= top; power += step) chart.append(...rung(up(power / top), short(10 ** power)));
  const at = counts.map((count, depth) => [across(depth, 0, Math.max(counts.length - 1, 1)), up(Math.log10(Math.max(count, 1)) / top), count, depth]);
  chart.append(draw('polyline', { points: at.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' '), class: 'line r0' }));
  for (const [x, y, count, depth] of at) {
    chart.append(draw('circle', { cx: x.toFixed(1), cy: y.toFixed(1), r: counts.length > 60 ? 1.5 : 3, class: 'end r0' },
      draw('title', {}, `depth ${depth}: ${count.toLocaleString('en')}`)));
  }
  chart.append(draw('text', { x: LEFT, y: HEIGHT - 6 }, 'depth 0'),
    draw('text', { x: WIDTH - RIGHT, y: HEIGHT - 6, 'text-anchor': 'end' }, `depth ${counts.length - 1}`));
  return chart;
}

/** A number in short form, such as 1.2 M. */
export function short(number) {
  for (const [size, letter] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (number >= size) return `${Number((number / size).toPrecision(3))} ${letter}`;
  }
  return String(Number(number.toPrecision(3)));
}
