// Switches that this browser remembers.

const PREFIX = 'play.';

/** The remembered value of a setting, or `fallback`. */
export function setting(name, fallback = '') {
  try { return localStorage.getItem(PREFIX + name) ?? fallback; } catch { return fallback; }
}

/** Remembers a setting; a null value forgets it. */
export function remember(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch { /* Not kept, then. */ }
}
