// A short click for each move, if sounds are switched on.

import { setting } from './settings.js';

let context = null;

/** Plays the click: of lower pitch if a piece was taken. */
export function click(low = false) {
  if (setting('sound') !== 'on') return;
  try {
    context ??= new AudioContext();
    // Browsers allow sound only after the user did something.
    if (context.state === 'suspended') context.resume();
    const now = context.currentTime;
    const tone = context.createOscillator();
    const volume = context.createGain();
    tone.type = 'triangle';
    tone.frequency.setValueAtTime(low ? 220 : 520, now);
    tone.frequency.exponentialRampToValueAtTime(low ? 90 : 180, now + 0.05);
    volume.gain.setValueAtTime(0.2, now);
    volume.gain.exponentialRampToValueAtTime(0.001, now + 0.07);
    tone.connect(volume).connect(context.destination);
    tone.start(now);
    tone.stop(now + 0.08);
  } catch { /* There is no sound device. */ }
}
