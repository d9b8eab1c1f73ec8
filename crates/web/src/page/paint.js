// Draws one frame of a graph on its canvas. Details too small to distinguish are left out.

import { isHollow, traced } from './shapes.js';

/** Maximum number of arcs drawn, and maximum while the view moves; a uniform selection. */
const MOST_ARCS = 20_000;
const MOST_MOVING = 4_000;
/** Number of arcs of a level up to which all are drawn. */
const FEW = 100;
/** Maximum number of arcs that only pass through. */
const MOST_THROUGH = 300;
/** Maximum number of arcs back with labels. */
const FEW_BACK = 24;
/** Maximum number of labels. */
const MOST_WORDS = 250;
/** Maximum number of arcs in one path; longer paths are slower than their parts. */
const TOGETHER = 300;
const LETTER = 6.7;

/**
 * `scene` contains `ranks` of nodes from left to right, `arcs`, `lit` (sets `{nodes,
 * arcs}`), and functions of nodes: `kind`, `look`, `radius`, `words`, `isFaint`. In `view`,
 * pixels are `left + x * kx` and `top + level * ky`. `state` is `{moving, settled, colours,
 * rings}`. Returns the number of items drawn.
 */
export function paint(context, scene, view, [width, height], state) {
  const painter = new Painter(context, scene, view, width, height, state);
  context.clearRect(0, 0, width, height);
  context.lineCap = 'round';
  const arcs = painter.arcs();
  const nodes = painter.nodes();
  painter.backs();
  painter.rings();
  painter.levels();
  context.globalAlpha = 1;
  return { arcs, nodes };
}

class Painter {
  constructor(context, scene, view, width, height, state) {
    Object.assign(this, { context, scene, view, width, height, state });
  }

  at({ x, level }) {
    return [this.view.left + x * this.view.kx, this.view.top + level * this.view.ky];
  }

  /** The visibility of an arc: 0 for none, 1 for neither end, 2 for an end. */
  sight({ from, to }) {
    const [x1, y1] = this.at(from);
    const [x2, y2] = this.at(to);
    const { width, height } = this;
    if ((x1 < 0 && x2 < 0) || (x1 > width && x2 > width) || (y1 < 0 && y2 < 0) || (y1 > height && y2 > height)) return 0;
    const inside = (x, y) => x >= 0 && x <= width && y >= 0 && y <= height;
    return inside(x1, y1) || inside(x2, y2) ? 2 : 1;
  }

  arcs() {
    const { scene, state: { moving } } = this;
    const sorts = { through: [], faint: [], plain: [], again: [], lit: [] };
    for (const arc of scene.arcs) {
      const seen = scene.repeats || !arc.repeats ? this.sight(arc) : 0;
      if (seen === 0) continue;
      const sort = scene.lit.arcs.has(arc) ? 'lit' : seen === 1 ? 'through' : arc.repeats ? 'again' : scene.isFaint(arc.to) ? 'faint' : 'plain';
      sorts[sort].push(arc);
    }
    const all = Object.values(sorts).reduce((sum, sort) => sum + sort.length, 0);
    const most = moving ? MOST_MOVING : MOST_ARCS;
    for (const [name, sort] of Object.entries(sorts)) {
      const share = (name === 'through' ? MOST_THROUGH : most) / (name === 'through' ? sort.length : all);
      if (share >= 1) continue;
      // Levels with few arcs keep all of them.
      const counts = new Map();
      for (const { from } of sort) counts.set(from.level, (counts.get(from.level) ?? 0) + 1);
      sorts[name] = sort.filter(({ chance, from }) => chance < share || (name !== 'through' && counts.get(from.level) <= FEW));
    }
    this.lines(sorts.through, 'arc', 0.12, 1);
    this.washed(sorts.faint, 'arc', 0.4);
    this.washed(sorts.plain, 'arc', 1);
    this.context.setLineDash(sorts.again.length < 600 ? [4, 3] : []);
    this.washed(sorts.again, 'again', 1.2);
    this.context.setLineDash([]);
    this.back = sorts.again;
    const lit = sorts.lit.length;
    this.lines(sorts.lit, 'lit', Math.max(0.3, Math.min(1, Math.sqrt(150 / lit))), lit < 150 ? 2.2 : lit < 600 ? 1.4 : 1);
    return Object.values(sorts).reduce((sum, sort) => sum + sort.length, 0);
  }

  /** Many neighbouring arcs are drawn as a translucent area, few as lines. */
  washed(arcs, colour, weight) {
    const byLevel = Map.groupBy(arcs, ({ from }) => from.level);
    for (const some of byLevel.values()) {
      this.lines(some, colour, Math.max(0.13, Math.min(0.9, Math.sqrt(60 / some.length))) * weight, 1);
    }
  }

  lines(arcs, colour, alpha, width) {
    const { context } = this;
    context.strokeStyle = this.state.colours[colour];
    context.globalAlpha = Math.min(1, alpha);
    context.lineWidth = width;
    for (let start = 0; start < arcs.length; start += TOGETHER) {
      context.beginPath();
      for (const arc of arcs.slice(start, start + TOGETHER)) this.line(arc);
      context.stroke();
    }
  }

  line({ from, to, repeats }) {
    const { context } = this;
    const [x1, y1] = this.at(from);
    const [x2, y2] = this.at(to);
    context.moveTo(x1, y1);
    if (from === to) {
      context.arc(x1 - 9, y1, 9, 0, 2 * Math.PI);
    } else if (repeats) {
      context.quadraticCurveTo(...bent(x1, y1, x2, y2, 1), x2, y2);
    } else {
      context.lineTo(x2, y2);
    }
  }

  /** The labels of a few arcs back. */
  backs() {
    if (this.back.length > FEW_BACK) return;
    this.letters('again');
    for (const { from, to, move } of this.back) {
      if (from !== to) this.word(move, 18, ...bent(...this.at(from), ...this.at(to), 0.5));
    }
  }

  /** The visible part of a rank. */
  part(rank) {
    if (!this.state.settled) return rank;
    const { left, kx } = this.view;
    return rank.slice(below(rank, (-20 - left) / kx), below(rank, (this.width + 20 - left) / kx));
  }

  nodes() {
    const { scene, view: { ky, kx, top }, state: { colours } } = this;
    const sorts = new Map();
    let words = [];
    let count = 0;
    const first = Math.max(0, Math.floor((-20 - top) / ky));
    const last = Math.min(scene.ranks.length - 1, Math.ceil((this.height + 20 - top) / ky));
    for (let level = first; level <= last; level += 1) {
      const rank = scene.ranks[level];
      const room = Math.min(kx / rank.length, ky);
      const before = {};
      const part = this.part(rank);
      for (const [index, node] of part.entries()) {
        const [x, y] = this.at(node);
        const kind = scene.kind(node);
        const look = scene.look(node, kind);
        const lit = scene.lit.nodes.has(node);
        if (!lit && Math.abs(x - before[look]) < 0.9) continue;
        before[look] = x;
        const r = Math.max(scene.radius(node, room), lit ? 2.5 : 0);
        const key = `${kind} ${look} ${scene.isFaint(node) && !lit}`;
        if (!sorts.has(key)) sorts.set(key, { kind, look, faint: scene.isFaint(node) && !lit, circles: [] });
        if (node.image?.complete && r > 9) {
          sorts.get(key).circles.push(...this.image(node, x, y, r), 5);
        } else sorts.get(key).circles.push(x, y, r);
        count += 1;
        const after = part[index + 1] ? (part[index + 1].x - node.x) * kx - 2 * r : this.width - x - r;
        if (after > 40 && ky > 16 && x > 0 && x < this.width) words.push([node, x + r + 4, y, after]);
      }
    }
    for (const sort of sorts.values()) this.discs(sort, colours);
    if (words.length > MOST_WORDS) words = words.filter(([node]) => scene.lit.nodes.has(node)).slice(0, MOST_WORDS);
    this.words(words);
    return count;
  }

  /** Draws a board in a square around a point, and returns its corner. */
  image(node, x, y, r) {
    const { naturalWidth: width, naturalHeight: height } = node.image;
    const scale = r / Math.max(width, height);
    this.context.globalAlpha = this.scene.isFaint(node) ? 0.5 : 1;
    const corner = [x - scale * width, y - scale * height];
    this.context.drawImage(node.image, ...corner, 2 * scale * width, 2 * scale * height);
    return corner;
  }

  discs({ kind, look, faint, circles }, colours) {
    const { context } = this;
    context.globalAlpha = faint ? 0.4 : 1;
    const hollow = isHollow(kind);
    context.fillStyle = hollow ? colours.ground : colours[look];
    context.strokeStyle = hollow ? colours[look] : colours.ground;
    context.lineWidth = hollow ? 1.6 : 1;
    for (let start = 0; start < circles.length; start += 3 * TOGETHER) {
      context.beginPath();
      let large = false;
      for (let at = start; at < Math.min(circles.length, start + 3 * TOGETHER); at += 3) {
        const [x, y, r] = [circles[at], circles[at + 1], circles[at + 2]];
        large ||= r > 2.4;
        if (r > 2.4) traced(context, kind, x, y, r);
        else context.rect(x - r, y - r, 2 * r, 2 * r);
      }
      if (hollow && !large) context.fillStyle = colours[look];
      context.fill();
      if (large) context.stroke();
    }
  }

  words(words) {
    this.letters('text');
    for (const [node, x, y, room] of words) this.word(this.scene.words(node), Math.floor((room - 6) / LETTER), x, y);
  }

  /** Begins labels of a colour. */
  letters(colour) {
    const { context, state: { colours } } = this;
    context.globalAlpha = 1;
    context.font = '11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    context.lineWidth = 3;
    context.strokeStyle = colours.ground;
    context.fillStyle = colours[colour];
  }

  word(words, letters, x, y) {
    const text = shortened(words, letters);
    this.context.strokeText(text, x, y);
    this.context.fillText(text, x, y);
  }

  /**
   * Rings around the start, the selection, the node under the pointer and nodes equal to
   * it.
   */
  rings() {
    const { context, scene, view: { kx, ky }, state: { rings, colours } } = this;
    context.globalAlpha = 1;
    for (const [colour, width, nodes] of rings) {
      context.strokeStyle = colours[colour];
      context.lineWidth = width;
      for (const node of nodes) {
        const [x, y] = this.at(node);
        const room = Math.min(kx / scene.ranks[node.level].length, ky);
        context.beginPath();
        context.arc(x, y, Math.max(scene.radius(node, room), 2) + 3.5, 0, 2 * Math.PI);
        context.stroke();
      }
    }
  }

  /** The level numbers on the left. */
  levels() {
    const { context, scene, view: { top, ky }, state: { colours } } = this;
    context.globalAlpha = 1;
    context.font = '11px system-ui, "DejaVu Sans", sans-serif';
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    context.fillStyle = colours.quiet;
    context.strokeStyle = colours.ground;
    context.lineWidth = 4;
    const every = Math.max(1, Math.ceil(15 / ky));
    for (let level = 0; level < scene.ranks.length; level += every) {
      const y = top + level * ky;
      if (y < -10 || y > this.height + 10) continue;
      context.strokeText(String(level), 6, y);
      context.fillText(String(level), 6, y);
    }
  }
}

/**
 * A point next to the middle of two others: arcs to the same or an earlier level are bent, so that
 * they are visible next to the forward arcs.
 */
function bent(x1, y1, x2, y2, share) {
  const bend = share * (0.12 + 12 / Math.max(Math.hypot(x2 - x1, y2 - y1), 24));
  return [(x1 + x2) / 2 + bend * (y1 - y2), (y1 + y2) / 2 + bend * (x2 - x1)];
}

/** The number of nodes of a rank to the left of `x`. */
export function below(rank, x) {
  let [low, high] = [0, rank.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rank[middle].goal < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

function shortened(text, letters) {
  return text.length <= letters ? text : letters < 6 ? '' : `${text.slice(0, letters - 1)}…`;
}
