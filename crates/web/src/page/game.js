// The view of a game: everything around one position.

import { ask } from './api.js';
import { Controls } from './controls.js';
import { make, seen, settled, trouble } from './dom.js';
import { isEnd } from './ending.js';
import { Facts } from './facts.js';
import { Faults } from './faults.js';
import { Graph } from './graph.js';
import { History } from './history.js';
import { Hover } from './hover.js';
import { Learned } from './learned.js';
import { Match, PERSON, defaultSeats, wrongSeats } from './match.js';
import { Moves } from './moves.js';
import { asDrawn } from './names.js';
import { Outlook } from './outlook.js';
import { address } from './route.js';
import { subtitled } from './rules.js';
import { Seats, coloursOf } from './seats.js';
import { Sharing } from './share.js';
import { Solve } from './solve.js';
import { Stage } from './stage.js';
import { Status } from './status.js';
import { Seat, joinForm, pathOf, tableStates } from './table.js';
import { Tabs } from './tabs.js';
import { onTheme } from './theme.js';
import { Think } from './think.js';
import { Timeline } from './timeline.js';
import { Tournament } from './tournament.js';
import { Views } from './views.js';
import { Why } from './why.js';

/** Milliseconds until the address is updated. */
const ADDRESS = 120;
/** Milliseconds and pixels within which a click belongs to the one before. */
const BOUNCE = 400;
const CLOSE = 30;
/** Maximum number of earlier positions that are loaded for the list of moves. */
const RECALLED = 60;
/** In a single column, opening the explanation would scroll the board out of sight. */
const narrow = matchMedia('(max-width: 760px)');

export class GameView {
  /** `target` is the parsed address; `table` and `said` are set at a table. */
  constructor(game, target) {
    this.game = game;
    this.target = target;
    this.history = new History();
    /** Hidden thoughts of programs by role: the thought, and the node and tree. */
    this.seen = new Map();
    const listener = {
      onJoint: (joint) => this.joint(joint), onChange: () => this.changed(),
      onThought: (role, thought, running) => this.thought(role, thought, running),
      onTree: (role, node, tree) => this.grown(role, node, tree), onTrouble: (message) => this.trouble.say(message), onStop: (role) => this.think.stopped(role),
      onFailure: (role, message) => this.controls.failed(role, message),
    };
    this.atTable = target.table !== undefined;
    this.match = this.atTable ? new Seat(game, this.history, target, listener) : new Match(game, listener);
    this.views = new Views(this);
    const here = () => this.history.here;
    const about = (...asked) => this.about(...asked);
    this.trouble = trouble();
    this.status = new Status(this);
    this.stage = new Stage(this);
    const onWhy = (question) => this.why.ask(question);
    this.moves = new Moves({
      onWhy, onMove: (role, move) => this.move(role, move), onBack: (role) => this.match.back(role),
      onHover: (row) => this.stage.hoverMove(row?.role ?? null, row?.move ?? null), onClear: () => this.stage.selection.set([]),
    });
    this.facts = new Facts(onWhy);
    this.faults = new Faults({ onPlace: (place) => this.why.read(place), onWhy });
    this.timeline = new Timeline(game.roles, this.atTable, { onGo: (node) => this.go(node), onUndo: () => this.step(-1), onRedo: () => this.step(1) });
    this.seats = new Seats(game.roles, { onWhy, onSit: (role, player) => this.sit(role, player) });
    const onGo = (from, joints) => this.timeline.go(this.history.graft(from, joints));
    this.learned = new Learned(game, { line: () => this.history.line(), here, onValues: () => this.think.over(this.history.line()) });
    this.think = new Think(game.roles, { onGo, onHover: (move, role) => this.stage.hoverMove(role, this.stage.moveOf(role, move)), onOpen: () => this.controls.grow() }, !game.hidden && this.learned.element);
    this.why = new Why(game, here, about, () => { if (!narrow.matches) for (const { element } of [this.stage.board, this.status]) element.scrollIntoView({ block: 'nearest' }); });
    this.hover = new Hover(here, about);
    this.controls = new Controls(this);
    this.sharing = new Sharing(this);
    this.solve = game.roles.length === 1 ? new Solve(game, { here, onPlan: (...plan) => this.plan(...plan) }) : null;
    this.graph = this.atTable || game.hidden ? null : new Graph(game, { here, onGo });
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
        make('div', { class: 'stage' }, this.status.element, this.faults.element, this.trouble, this.controls.failure,
          ...this.stage.elements, this.views.note, make('div', { class: 'under' }, this.controls.element, this.stage.tools.element), this.timeline.transport, this.stage.legend.element, this.facts.element),
        make('div', { class: 'side' }, this.seats.element, this.atTable && this.match.seat === null && joinForm(this.target), this.sharing.invitation, this.moves.element),
        make('div', { class: 'side' }, this.tabs.element)),
      this.views.cover, this.why.element, this.hover.element, this.stage.menu.element);
    this.hover.listen(this.element);
    this.element.addEventListener('click', (event) => this.first(event), true);
    this.element.addEventListener('drop', (event) => {
      const file = event.dataTransfer.files[0];
      if (file && !this.atTable) this.sharing.load(file);
    });
    this.keys = (event) => this.key(event);
  }

  async shown() {
    this.own = location.hash;
    this.ended = onTheme(() => this.stage.board.paint());
    document.addEventListener('keydown', this.keys);
    this.solve?.shown();
    if (this.atTable) {
      await this.watch();
      return;
    }
    const { moves, then, seats, early } = this.target;
    this.stage.prepare();
    // An address may leave out forced moves; the server fills them in.
    const short = moves.some((joint) => joint.length < this.game.roles.length);
    const position = await (early ?? (short ? this.game.ask('position', { moves }).catch(() => null) : null));
    if (this.gone) return;
    // The moves before a wrong one are filled in as well.
    const legal = position?.moves ?? (short ? await this.legalPrefix(moves) : []);
    const last = this.history.graft(this.history.root, [...legal, ...moves.slice(legal.length)]);
    this.history.graft(last, then);
    last.whole = position;
    if (position && !this.game.hidden) {
      last.position = position;
      // The board is shown before the controls.
      this.stage.draw(last);
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
    if (this.target.trouble) this.trouble.say(this.target.trouble);
  }

  /** Shows an error that nothing else has caught. */
  failed(error) {
    if (this.gone) return;
    this.trouble.say(error.message);
    this.stage.ready();
    this.stage.board.wait('There is no position to show.');
    this.element.removeAttribute('aria-busy');
  }

  leave() {
    this.gone = true;
    this.stage.leave();
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

  /** Loads a node's position from the server, as it is shown. */
  async load(node) {
    const { game, views, history } = this;
    if (node.position && node !== history.here) return;
    const hides = game.hidden && this.atTable;
    node.whole ??= await (hides ? ask(`${pathOf(this.target.table)}/position`, asDrawn({ key: this.target.key, ply: node.ply })) : game.ask('position', { moves: node.moves() }));
    if (node === history.here) views.follow();
    const { role } = views;
    if (role !== null && !node.whole.over) node.known[role] ??= await game.ask('position', { moves: node.moves(), seat: role });
    node.position = node.known[role] ?? node.whole;
  }

  /** Asks about the current position, for the one who sees it. */
  about(what, body, signal) {
    const { here } = this.history;
    const { seat } = here.position ?? {};
    if (seat && this.atTable) return ask(`${pathOf(this.target.table)}/${what}`, { key: this.target.key, ply: here.ply, ...body }, signal);
    return this.game.ask(what, { moves: here.moves(), ...body, ...(seat && { seat: seat.role }) }, signal);
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
    this.stage.clear();
    this.controls.failed(null);
    this.hover.hide();
    this.element.setAttribute('aria-busy', 'true');
    this.stage.prepare();
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
        return;
      }
      // There is no position to fall back to.
      this.stage.ready();
      this.stage.board.wait('There is no position to show.');
      this.element.removeAttribute('aria-busy');
      this.controls.offerAgain(() => this.go(node, forward));
      return;
    }
    if (this.gone || this.history.here !== node) return;
    this.trouble.say('');
    this.element.removeAttribute('aria-busy');
    this.stage.ready();
    this.stage.draw(node, node.parent === before || before.parent === node ? before : null);
    this.facts.show(node.position);
    const colours = coloursOf(this.game.roles, node.position.drawing);
    this.seats.colour(colours);
    this.think.colour(colours);
    colours.slice(0, 8).forEach((colour, index) => this.element.style.setProperty(`--role-${index}`, colour));
    this.timeline.show(this.history);
    this.think.over(this.history.line());
    this.stage.outlook.show(node);
    this.solve?.follow(node);
    this.learned.follow();
    this.match.arrive(node, forward);
    if (!this.atTable) this.write();
    if (node.position.over) this.stage.decide(node);
    this.complete(node);
  }

  /** Draws the position anew: for another role, or after names are read or no longer (`all`). */
  async redraw(all = false) {
    const node = this.history.here;
    this.history.forget(all);
    try {
      await this.load(node);
    } catch (error) {
      this.trouble.say(error.message);
      return;
    }
    if (this.gone || this.history.here !== node) return;
    this.stage.clear();
    this.stage.draw(node);
    this.facts.show(node.position);
    this.timeline.show(this.history);
    this.changed();
    this.complete(node);
  }

  /** The moves before the first wrong one, with the forced moves that an address may leave out. */
  legalPrefix(moves) {
    return this.game.ask('position', { moves }).then((position) => position.moves, ({ body }) => (body?.made ? this.legalPrefix(moves.slice(0, body.made)) : []));
  }

  /** Loads the positions that lead to a node, from which the list of moves knows who chose. */
  async complete(node) {
    const missing = node.path().slice(0, -1).filter(({ position }) => !position).slice(-RECALLED);
    for (const one of missing.reverse()) {
      await this.load(one).catch(() => {});
      if (this.gone || this.history.here !== node) return;
      // The previous position tells which role moved, and where.
      if (one === node.parent) this.changed();
    }
    if (missing.length > 0) this.timeline.show(this.history);
  }

  /** Starts a new match with these players; with null, the players can be chosen first. */
  restart(seats) {
    const root = this.history.root.truth;
    this.views.whole = !this.game.hidden;
    this.match.depart();
    this.controls.leave();
    this.think.clear();
    this.think.tree.clear();
    this.address();
    history.pushState(null, '', location.hash);
    this.history.reset(root);
    this.match.seats = [...seats ?? this.match.seats];
    this.match.paused = seats === null || !seats.includes(PERSON);
    if (seats && !seats.includes(PERSON)) this.match.paused = false;
    this.seats.sit(this.match.seats);
    this.address();
    this.go(this.history.root, seats !== null);
    if (seats === null) this.seats.focus();
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
    const asks = ({ truth }) => !truth || isEnd(truth) || truth.turn.some((role) => this.match.seats[role] === PERSON);
    while (persons && line[at + direction] && !asks(line[at])) at += direction;
    if (line[at]) this.timeline.go(line[at]);
  }

  /** Plays a plan, or goes to the position after some of its steps. */
  plan(from, plan, playing, step = 1) {
    this.timeline.halt();
    const last = this.history.graft(from, plan.map((move) => [move]));
    this.go(playing ? from : last.path()[from.ply + step]).then(() => {
      if (playing) this.timeline.play();
    });
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
    const target = address(this.game.path, { moves: here.moves(), then: this.history.ahead(), seats: own ? seats : null, veiled: this.game.hidden });
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

  /**
   * Looks at a click before anything else does. A click just after one where moves are chosen, and
   * at its place, was meant for what was there, and a double click chooses once.
   */
  first(event) {
    const { detail, clientX: x, clientY: y, timeStamp: now, target } = event;
    const [left, top, then] = this.pressed ?? [];
    const chooses = target.closest('.pad, .moves, .board, .cell-menu');
    const isSame = detail > 0 && now - then < BOUNCE && Math.hypot(x - left, y - top) < CLOSE;
    const isLate = isSame && (!chooses || (detail > 1 && this.game.roles.length > 1));
    if (isLate) event.stopPropagation();
    if (isLate || chooses) this.pressed = [x, y, now];
  }

  move(role, move) {
    if (this.match.stateOf(role) !== 'open') return;
    this.stage.clear();
    this.match.choose(role, move);
  }

  /** Shows the thought of a hint. */
  advise(node, role, player, seen, running) {
    this.think.show(role, player, seen, running, (move) => this.move(role, move));
    Outlook.keep(node, role, seen);
    this.stage.outlook.show(node);
    this.stage.advise(role, seen.move);
  }

  sit(role, player) {
    this.match.sit(role, player);
    this.seats.sit(this.match.seats);
    this.write();
  }

  /** Returns whether what a role thinks must not be seen. */
  hides(role) {
    const { seat } = this.history.here.position ?? {};
    return Boolean(seat) && seat.role !== role;
  }

  thought(role, thought, running) {
    if (this.hides(role)) {
      this.controls.show();
      return;
    }
    this.tabs.suggest('Thinking');
    if (this.match.secret) {
      this.seen.set(role, [thought, ...(this.seen.get(role)?.slice(1) ?? [])]);
      this.think.hide();
    } else {
      this.reveal(role);
      this.expose(role, thought, running);
    }
    this.controls.show();
  }

  /** Shows a thought that need not be hidden. */
  expose(role, thought, running) {
    this.think.show(role, this.match.seats[role], thought, running);
    Outlook.keep(this.history.here, role, thought);
    this.stage.outlook.show(this.history.here);
    if (!running) this.history.here.hurried = thought.by_chance && this.seats.thinks(this.match.seats[role]);
  }

  grown(role, node, tree) {
    if (this.hides(role)) return;
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
    this.expose(role, thought, false);
    if (tree.length > 0) this.think.grown(role, this.match.seats[role], ...tree);
  }

  // Display.

  changed() {
    const { position } = this.history.here;
    if (!this.match.node || this.gone) return;
    if (this.views.follow()) {
      this.redraw();
      return;
    }
    this.views.show(position);
    const states = this.game.roles.map((_, role) => this.match.stateOf(role));
    const all = isEnd(position) ? [] : this.game.roles.map(({ name }, role) => ({
      role, name, moves: position.legal[role] ?? [], state: states[role] === 'thinking' ? 'others' : states[role], back: this.match.branches && this.match.seats[role] === PERSON,
    }));
    const groups = all.filter(({ role }) => !this.hides(role));
    // Roles that must choose come first, roles without a choice last.
    const rank = { open: 0, chosen: 1, others: 2, single: 3 };
    this.moves.show(groups.sort((a, b) => rank[a.state] - rank[b.state] || a.role - b.role), this.stage.selection.cells);
    const open = groups.filter(({ state }) => state === 'open');
    const words = { open: 'to move', chosen: 'has chosen', thinking: 'is thinking …', others: '', single: '' };
    const times = states.map((state, role) => (state === 'thinking' && !this.hides(role) && !this.match.preparing ? this.seats.timeOf(this.match.seats[role]) : null));
    this.seats.show(states.map((state, role) => (this.hides(role) ? '' : state === 'others' && position.turn.includes(role) && !isEnd(position) ? 'to move' : words[state])), position.goals, position.over, times);
    this.stage.changed(open.length > 1 ? open[0].name : null);
    // Once folded, the list stays so while others move.
    if (open.length > 0) this.moves.fold(open.length === 1 && !groups.some(({ state, back }) => back && state === 'chosen') && this.stage.takes(open[0].moves));
    this.status.show(states);
    this.faults.show(position);
    this.controls.show();
    if (this.match.preparing) this.stage.prepare();
    else this.stage.ready();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input, textarea, select')) return;
    if (event.defaultPrevented || !this.views.cover.hidden) return;
    if (this.stage.pad.key(event)) { /* A move was chosen. */ }
    else if (event.key === 'u') this.step(-1);
    else if (event.key === 'r') this.step(1);
    else if (event.key === 'f') this.stage.tools.turn.click();
    else if (event.key === 'Escape') this.stage.selection.set([]);
    else return;
    event.preventDefault();
  }

  // Tables.

  async watch() {
    this.table = new AbortController();
    this.seats.fix(this.target.said.seats);
    try {
      for await (const said of tableStates(this.target, this.table.signal, (message) => this.trouble.say(message))) {
        // Who has no seat may see nothing before the end.
        if (this.game.hidden && said.seat === null && !said.over) {
          this.stage.board.wait('The rules hide what others do. The match is shown when it is over.');
          this.element.removeAttribute('aria-busy');
          continue;
        }
        const live = this.history.here === this.match.end;
        const end = this.match.changed(said);
        this.seats.fix(said.seats.map((player, role) => (role === this.match.seat ? `${player} (you)` : player)));
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
