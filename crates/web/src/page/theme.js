// The colour scheme: that of the system, or the one chosen here.

import { button, fill, icon } from './dom.js';

const wanted = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set();

function chosen() {
  try { return localStorage.getItem('theme'); } catch { return null; }
}

export function isDark() {
  const choice = document.documentElement.dataset.theme;
  return choice ? choice === 'dark' : wanted.matches;
}

/** Calls `listener` after each change. Returns a function that ends this. */
export function onTheme(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function changed(control) {
  fill(control, icon(isDark() ? 'light' : 'dark'));
  control.setAttribute('aria-label', isDark() ? 'Light colours' : 'Dark colours');
  control.title = control.getAttribute('aria-label');
  for (const listener of listeners) listener();
}

/** The switch in the header of the page. */
export function themeSwitch() {
  if (chosen()) document.documentElement.dataset.theme = chosen();
  const control = button('', () => {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    try { localStorage.setItem('theme', document.documentElement.dataset.theme); } catch { /* Not kept, then. */ }
    changed(control);
  }, { class: 'plain' });
  wanted.addEventListener('change', () => changed(control));
  changed(control);
  return control;
}
