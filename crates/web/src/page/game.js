// The view of a game: everything around one position.

import { Board } from './board.js';
import { Controls } from './controls.js';
import { fill, make, seen, settled, trouble } from './dom.js';
import { ending, isEnd } from './ending.js';
import { Facts } from './facts.js';
import { Graph } from './graph.js';
import { History } from './history.js';
import { Hover } from './hover.js';
import { Learned } from './learned.js';
import { Match, PERSON, parsedPlayer, defaultSeats } from './match.js';
import { Moves, concerns, counted } from './moves.js';
import { Sharing } from './share.js';
import { address } from './route.js';
import { subtitled } from './rules.js';
import { Seats, coloursOf } from './seats.js';
import { Solve } from './solve.js';
import { Seat, joinForm, tableStates } from './table.js';
import { Tabs } from './tabs.js';
import { onTheme } from './theme.js';
import { Think } from './think.js';
import { Timeline } from './timeline.js';
import { Tournament } from './tournament.js';
import { Why } from './why.js';

/** Milliseconds until the address is updated. */
const ADDRESS = 120;
/** In a single column, opening the explanation would scroll the board out of sight. */
const narrow = matchMedia('(max-width: 760px)');

export class GameView {
  /** `target` is the parsed address; `table` and `said` are set at a table. */
  constructor(game, target) {
    this.game = game;
    this.target = target;
    this.history = new History();
    this.cells = [];
    /** Hidden thoughts of programs by role: the thought, and the node and tree. */
    this.seen = new Map();
    const listener = {
      onJoint: (joint) => this.joint(joint), onChange: () => this.changed(),
      onThought: (role, thought, running) => this.thought(role, thought, running),
      onTree: (role, node, tree) => this.grown(role, node, tree), onTrouble: (message) => this.trouble.say(message), onStop: (role) => this.think.stopped(role),
    };
    this.atTable = target.table !== undefined;
    this.match = this.atTable ? new Seat(game, this.history, target, listener) : new Match(game, listener);
    this.trouble = trouble();
    this.status = make('p', { class: 'status', 'aria-live': 'polite' });
    this.board = new Board({ onCell: (cell) => this.cell(cell), onClear: () => this.choose([]) });
    const onWhy = (question) => this.why.ask(question);
    this.moves = new Moves({
      onWhy, onMove: (role, move) => this.move(role, move), onBack: (role) => this.match.back(role),
      onHover: (cells) => this.mark({ hover: new Set(cells.map((cell) => cell.join(' '))) }), onClear: () => this.choose([]),
    });
    this.facts = new Facts(onWhy);
    this.timeline = new Timeline({ onGo: (node) => this.go(node), onUndo: () => this.step(-1), onRedo: () => this.step(1) });
    this.seats = new Seats(game.roles, { onWhy, onSit: (role, player) => this.sit(role, player) });
    const onGo = (from, joints) => this.timeline.go(this.history.graft(from, joints));
    this.learned = new Learned(game, { line: () => this.history.line(), here: () => this.history.here, onValues: () => this.think.over(this.history.line()) });
    this.think = new Think(game.roles, { onGo, onHover: (move, role) => this.mark({ hover: this.cellsOf(role, move) }), onOpen: () => this.controls.grow() }, this.learned.element);
    this.why = new Why(game, () => this.history.here.moves(), () => { if (!narrow.matches) this.board.element.scrollIntoView({ block: 'nearest' }); });
    this.hover = new Hover(game, () => this.history.here);
    this.controls = new Controls(this);
    this.sharing = new Sharing(this);
    this.solve = game.roles.length === 1 ? new Solve(game, { here: () => this.history.here, onPlan: (...plan) => this.plan(...plan) }) : null;
    this.graph = this.atTable ? null : new Graph(game, { here: () => this.history.here, onGo });
    this.tournament = game.roles.length > 1 && !this.atTable ? new Tournament(game, (moves) => this.replay(moves)) : null;
    this.tabs = new Tabs([this.solve && ['Solve', this.solve.element], ['History', this.timeline.element], ['Thinking', this.think.element], this.graph && ['Graph', this.graph.element],
      this.tournament && ['Tournament', this.tournament.element]].filter(Boolean));
    this.write = settled(ADDRESS, () => this.address());
    this.layout();
  }

  layout() {
    const { game } = this;
    this.element = make('article', { class: 'game', 'aria-busy': 'true' },
      make('div', { class: 'game-head' }, make('h1', { tabindex: '-1' }, game.title, subtitled(game) && make('span', { class: 'quiet subtitle' }, ` ${subtitled(game)}`)), this.sharing.element),
      game.about.trim() && make('details', { class: 'unfold about' }, make('summary', {}, 'About this game'), make('p', {}, game.about.trim())),
      make('div', { class: 'columns' },
        make('div', { class: 'stage' }, this.status, this.trouble, this.controls.element,
          this.board.element, this.timeline.transport, this.facts.element),
        make('div', { class: 'side' }, this.seats.element, this.atTable && !this.target.key && joinForm(this.target), this.sharing.invitation, this.moves.element),
        make('div', { class: 'side' }, this.tabs.element)),
      this.why.element, this.hover.element);
    this.hover.listen(this.element);
    this.element.addEventListener('drop', (event) => {
      const file = event.dataTransfer.files[0];
      if (file && !this.atTable) this.sharing.load(file);
    });
    this.keys = (event) => this.key(event);
  }

  async shown() {
    this.own = location.hash;
    this.ended = onTheme(() => this.board.paint());
    document.addEventListener('keydown', this.keys);
    this.solve?.shown();
    if (this.atTable) {
      await this.watch();
      return;
    }
    const { moves, then, seats, early } = this.target;
    // An address may leave out forced moves; the server fills them in.
    const short = moves.some((joint) => joint.length < this.game.roles.length);
    const position = await (early ?? (short ? this.game.ask('position', { moves }).catch(() => null) : null));
    if (this.gone) return;
    const last = this.history.graft(this.history.root, position?.moves ?? moves);
    this.history.graft(last, then);
    last.position = position;
    if (last.position) {
      // The board is shown before the controls.
      this.board.show(last.position.svg, `Board of ${this.game.title}`);
      await seen();
      if (this.gone) return;
    }
    let seatError = null;
    try {
      const kinds = await this.seats.load();
      this.defaultSeats = defaultSeats(this.game.roles, kinds);
      seatError = seats && wrongSeats(seats, this.game.roles, kinds);
      this.match.seats = seats && !seatError ? seats : [...this.defaultSeats];
      this.seats.sit(this.match.seats);
      this.controls.offer(kinds);
    } catch (error) {
      this.trouble.say(error.message);
    }
    await this.go(last, moves.length === 0 && this.match.seats.includes(PERSON));
    if (seatError) this.trouble.say(seatError);
    if (this.target.damaged) this.trouble.say('The moves in this address cannot be read. Was it copied completely? This is the initial position.');
  }

  leave() {
    this.gone = true;
    this.match.stop();
    this.controls.leave();
    this.timeline.halt();
    this.think.tree.leave();
    this.learned.leave();
    this.hover.leave();
    this.solve?.leave();
    this.graph?.leave();
    this.tournament?.leave();
    this.table?.abort();
    this.write.cancel();
    this.ended?.();
    document.removeEventListener('keydown', this.keys);
    document.body.classList.remove('asking');
  }

  // Positions.

  /** Loads a node's position from the server. */
  async load(node) {
    node.position ??= await this.game.ask('position', { moves: node.moves() });
    return node.position;
  }

  /** Goes to a position. `forward` is true if a move was just made. */
  async go(node, forward = false) {
    const before = this.history.here;
    this.match.depart();
    if (node !== before) {
      this.controls.leave();
      this.think.left();
      // Thoughts about the previous position do not apply here.
      if (!forward) this.think.clear();
    }
    this.seen.clear();
    this.history.goto(node);
    this.timeline.show(this.history);
    this.cells = [];
    this.hover.hide();
    this.element.setAttribute('aria-busy', 'true');
    try {
      await this.load(node);
    } catch (error) {
      if (this.gone || this.history.here !== node) return;
      this.trouble.say(error.message);
      // Fall back to the previous position, or to the moves that are legal.
      const path = node.path();
      const made = error.body?.made ?? 0;
      const safe = before !== node && before.position ? before : path[Math.min(made, path.length - 2)] ?? node;
      if (safe !== node) {
        const wrong = before === safe ? node : path[safe.ply + 1];
        wrong.parent.children = wrong.parent.children.filter((child) => child !== wrong);
        wrong.parent.next = null;
        await this.go(safe);
        this.trouble.say(error.message);
      }
      return;
    }
    if (this.gone || this.history.here !== node) return;
    this.trouble.say('');
    this.element.removeAttribute('aria-busy');
    this.hint = null;
    this.board.show(node.position.svg, `Board of ${this.game.title}`);
    this.facts.show(node.position);
    const colours = coloursOf(this.game.roles, node.position.drawing);
    this.seats.colour(colours);
    this.think.colour(colours);
    this.timeline.show(this.history);
    this.think.over(this.history.line());
    this.learned.follow();
    this.match.arrive(node, forward);
    if (!this.atTable) this.write();
    // The previous position tells which role moved, and where.
    if (node.parent && !node.parent.position) this.load(node.parent).then(() => this.changed(), () => {});
  }

  joint(joint) {
    for (const role of [...this.seen.keys()]) this.reveal(role);
    this.go(this.history.child(this.history.here, joint), true);
  }

  /** Undo and redo: moves to the next position in which a person has a choice, if known. */
  step(direction) {
    const line = this.history.line();
    const persons = this.match.seats.includes(PERSON) && this.match.branches;
    let at = this.history.here.ply + direction;
    const asks = ({ position }) => !position || isEnd(position) || position.turn.some((role) => this.match.seats[role] === PERSON);
    while (persons && line[at + direction] && !asks(line[at])) at += direction;
    if (line[at]) this.timeline.go(line[at]);
  }

  plan(from, plan, playing) {
    this.timeline.halt();
    this.history.graft(from, plan.map((move) => [move]));
    this.go(playing ? from : from.next).then(() => {
      if (playing) this.timeline.play();
    });
    this.tabs.choose('History');
  }

  /** Shows a match as a branch from the initial position. */
  replay(moves) {
    this.match.pause();
    this.timeline.go(this.history.graft(this.history.root, moves));
  }

  address() {
    const { here } = this.history;
    const { seats } = this.match;
    const own = this.defaultSeats && seats.join(';') !== this.defaultSeats.join(';');
    const target = address(this.game.path, { moves: here.moves(), then: this.history.ahead(), seats: own ? seats : null });
    // Do not overwrite an address that the browser is navigating to.
    if (location.hash !== this.own) return;
    if (location.hash !== target) history.replaceState(null, '', target);
    this.own = location.hash;
  }

  // Choices.

  /** The role that chooses by clicking the board, or -1. */
  get active() {
    return this.game.roles.findIndex((_, role) => this.match.stateOf(role) === 'open');
  }

  get choices() {
    return this.history.here.position?.legal[this.active] ?? [];
  }

  cellsOf(role, move) {
    const found = this.history.here.position?.legal[role]?.find((one) => one.move === move);
    return new Set((found?.cells ?? []).map((cell) => cell.join(' ')));
  }

  cell(cell) {
    if (this.cells.includes(cell)) return this.choose(this.cells.filter((one) => one !== cell));
    const narrowed = [...this.cells, cell];
    return this.choose(this.choices.some((move) => concerns(move, narrowed)) ? narrowed : [cell]);
  }

  /** Selects cells. A move is made if it is the only one that refers to all of them. */
  choose(cells) {
    const left = this.choices.filter((move) => concerns(move, cells));
    if (cells.length > 0 && left.length === 0) cells = [];
    if (cells.length > this.cells.length && left.length === 1) {
      this.move(this.active, left[0].move);
      return;
    }
    this.cells = cells;
    this.changed();
  }

  move(role, move) {
    if (!this.match.node) return;
    this.cells = [];
    this.match.choose(role, move);
  }

  sit(role, player) {
    this.match.sit(role, player);
    this.seats.sit(this.match.seats);
    this.write();
  }

  thought(role, thought, running) {
    this.tabs.suggest('Thinking');
    if (this.match.secret) {
      this.seen.set(role, [thought, ...(this.seen.get(role)?.slice(1) ?? [])]);
      this.think.hide();
    } else {
      this.reveal(role);
      this.think.show(role, this.match.seats[role], thought, running);
    }
    this.controls.show();
  }

  grown(role, node, tree) {
    if (this.match.secret) {
      if (this.seen.has(role)) this.seen.set(role, [this.seen.get(role)[0], node, tree]);
      return;
    }
    this.reveal(role);
    this.think.grown(role, this.match.seats[role], node, tree);
  }

  /** Shows a program's hidden thoughts, if there are any. */
  reveal(role) {
    if (!this.seen.has(role)) return;
    const [thought, ...tree] = this.seen.get(role);
    this.seen.delete(role);
    this.think.show(role, this.match.seats[role], thought, false);
    if (tree.length > 0) this.think.grown(role, this.match.seats[role], ...tree);
  }

  // Display.

  changed() {
    const { position } = this.history.here;
    if (!this.match.node || this.gone) return;
    const states = this.game.roles.map((_, role) => this.match.stateOf(role));
    const groups = isEnd(position) ? [] : this.game.roles.map(({ name }, role) => ({
      role, name, moves: position.legal[role] ?? [], state: states[role] === 'thinking' ? 'others' : states[role], back: this.match.branches && this.match.seats[role] === PERSON,
    }));
    // Roles that must choose come first, roles without a choice last.
    const rank = { open: 0, chosen: 1, others: 2, single: 3 };
    this.moves.show(groups.sort((a, b) => rank[a.state] - rank[b.state] || a.role - b.role), this.cells);
    const words = { open: 'to move', chosen: 'has chosen', thinking: 'thinks …', others: '', single: '' };
    this.seats.show(states.map((state, role) => (state === 'others' && position.turn.includes(role) && !isEnd(position) ? 'to move' : words[state])), position.goals, position.over);
    this.mark({});
    this.say(position, states);
    this.controls.show();
  }

  say(position, states) {
    const names = (wanted) => listed(this.game.roles.filter((_, role) => wanted(role)).map(({ name }) => name));
    const last = this.history.here.joint;
    const before = this.history.here.parent?.position;
    const played = last ? this.game.roles.map(({ name }, role) => (!before || before.turn.length === 0 || before.turn.includes(role) ? `${name} ${last[role]}` : null)).filter(Boolean).join(', ') : '';
    let turn;
    if (isEnd(position)) {
      turn = ending(this.game, position);
    } else if (this.atTable && this.history.here !== this.match.end) {
      turn = `This is an earlier position; the match has ${counted(this.match.end.ply, 'move')}.`;
    } else if (this.match.failed) {
      turn = this.match.failed;
    } else if (states.includes('open')) {
      const thinkers = names((role) => states[role] === 'thinking');
      turn = `Your move: ${names((role) => states[role] === 'open')}${thinkers ? `; ${thinkers} chooses at the same time` : ''}.`;
    } else if (states.includes('thinking')) {
      turn = `${names((role) => states[role] === 'thinking')} thinks …`;
    } else if (position.turn.length === 0) {
      turn = 'Only one move is possible.';
    } else if (this.atTable && this.history.here === this.match.end) {
      turn = `Waiting for ${names((role) => position.turn.includes(role) && states[role] !== 'chosen')}.`;
    } else {
      turn = `${names((role) => position.turn.includes(role))} to move${this.match.waits ? ' (paused)' : ''}.`;
    }
    fill(this.status, make('strong', {}, turn), played && make('span', { class: 'quiet' }, ` Last: ${played}`));
  }

  /** Marks cells of the board in addition to the permanent marks. */
  mark(marks) {
    const near = new Set();
    const open = new Set();
    for (const move of this.choices) {
      const meant = this.cells.length > 0 && concerns(move, this.cells);
      for (const cell of move.cells.map((one) => one.join(' '))) {
        open.add(cell);
        if (meant && !this.cells.includes(cell)) near.add(cell);
      }
    }
    const { joint, parent, position } = this.history.here;
    let last = new Set();
    joint?.forEach((move, role) => {
      const found = parent.position?.turn.includes(role) && parent.position.legal[role].find((one) => one.move === move);
      for (const cell of found ? found.cells : []) last.add(cell.join(' '));
    });
    // If a move refers to a whole line, mark only the cells that changed.
    if (last.size > 1) {
      const fresh = [...last].filter((cell) => contentOf(position, cell) !== contentOf(parent.position, cell));
      if (fresh.length > 0) last = new Set(fresh);
    }
    this.board.mark({ chosen: new Set(this.cells), near, open, last, hint: this.hint, ...marks });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input, textarea, select')) return;
    if (event.key === 'u') this.step(-1);
    else if (event.key === 'r') this.step(1);
    else if (event.key === 'Escape') this.choose([]);
    else return;
    event.preventDefault();
  }

  // Tables.

  async watch() {
    this.table = new AbortController();
    this.seats.fix(this.target.said.seats);
    try {
      for await (const said of tableStates(this.target.table, this.table.signal, (message) => this.trouble.say(message))) {
        const live = this.history.here === this.match.end;
        const end = this.match.changed(said);
        this.seats.fix(said.seats.map((player, role) => (role === this.target.seat && this.target.key ? `${player} (you)` : player)));
        if (live || !this.history.here.position) await this.go(end, true);
        else {
          this.timeline.show(this.history);
          this.changed();
        }
      }
    } catch (error) {
      this.trouble.say(error.message);
    }
  }
}

/** The error in the seats of an address, or null. */
function wrongSeats(seats, roles, kinds) {
  if (seats.length !== roles.length) return `This address names ${seats.length} players, but the game has ${roles.length} roles. The default players are used.`;
  const known = new Set([PERSON, ...kinds.map(({ name }) => name)]);
  const unknown = seats.map((seat) => parsedPlayer(seat).kind).find((kind) => !known.has(kind));
  return unknown === undefined ? null : `This address names an unknown player, ${unknown}. The default players are used.`;
}

/** The content of a cell. */
function contentOf({ drawing }, cell) {
  const [board, row, column] = cell.split(' ');
  return JSON.stringify(drawing.boards[board]?.contents[row]?.[column]);
}

function listed(names) {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}` : names[0] ?? '';
}
