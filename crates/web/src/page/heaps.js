// Heaps and piles of a position: pictures of tables, whose entries are cells, too.

const STYLES = new Set(['bars', 'piles', 'stacks']);
const known = new WeakMap();

/** The entries `{key, values}` of heaps and piles by cell. */
export function heapsOf(position) {
  if (!known.has(position)) known.set(position, found(position));
  return known.get(position);
}

function found({ drawing, svg }) {
  const pictures = drawing.tables.filter(({ style }) => STYLES.has(style));
  if (pictures.length === 0) return new Map();
  // They are counted after the boards. Tables without a picture or an entry leave gaps.
  const all = [...svg.matchAll(/data-cell="(\d+) /g)].map(([, number]) => Number(number));
  const numbers = [...new Set(all)].filter((number) => number >= drawing.boards.length).sort((a, b) => a - b);
  if (numbers.length !== pictures.length) return new Map();
  return new Map(pictures.flatMap(({ entries }, index) => entries.map((entry, at) => [`${numbers[index]} 0 ${at}`, entry])));
}

/**
 * The changes from one position to another: `moved` are pairs of cells `[from, to]` between
 * which a thing moved, `changed` are all cells whose content is another one.
 */
export function heapChanges(before, after) {
  const [one, two] = [heapsOf(before), heapsOf(after)];
  const changed = [...two.keys()].filter((cell) => one.get(cell)?.key === two.get(cell).key && one.get(cell).values.join(' ') !== two.get(cell).values.join(' '));
  const things = changed.flatMap((to) => two.get(to).values.filter((thing) => !one.get(to).values.includes(thing)).map((thing) => ({ to, thing })));
  const moved = things.flatMap(({ to, thing }) => {
    // A number that another heap has lost is no thing.
    const from = changed.find((cell) => one.get(cell).values.includes(thing) && !two.get(cell).values.includes(thing));
    return from && (two.get(from).values.length < one.get(from).values.length) ? [[from, to]] : [];
  });
  return { moved, changed };
}
