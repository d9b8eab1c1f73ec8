// Panels with tabs, one of which is visible.

import { make } from './dom.js';

export class Tabs {
  /** `panels` are `[name, element]`; the first one is visible. */
  constructor(panels) {
    this.panels = panels.map(([name, element]) => {
      const id = `tab-${name.toLowerCase()}`;
      const tab = make('button', { type: 'button', role: 'tab', id, 'aria-controls': `${id}-panel`, on: { click: () => { this.own = true; this.choose(name); } } }, name);
      const panel = make('div', { role: 'tabpanel', id: `${id}-panel`, 'aria-labelledby': id, class: 'tab-panel' }, element);
      return { name, tab, panel };
    });
    const list = make('div', { role: 'tablist', class: 'tabs' }, this.panels.map(({ tab }) => tab));
    list.addEventListener('keydown', (event) => this.key(event));
    this.element = make('section', { class: 'panel tabbed' }, list, this.panels.map(({ panel }) => panel));
    this.choose(panels[0][0]);
  }

  choose(name) {
    this.chosen = name;
    for (const { name: other, tab, panel } of this.panels) {
      tab.setAttribute('aria-selected', String(other === name));
      tab.tabIndex = other === name ? 0 : -1;
      panel.hidden = other !== name;
    }
  }

  /** Selects a panel, unless the user has selected one. */
  suggest(name) {
    if (!this.own && this.chosen !== name) this.choose(name);
  }

  key(event) {
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!direction) return;
    const at = this.panels.findIndex(({ name }) => name === this.chosen);
    const next = this.panels[(at + direction + this.panels.length) % this.panels.length];
    this.own = true;
    this.choose(next.name);
    next.tab.focus();
    event.preventDefault();
  }
}
