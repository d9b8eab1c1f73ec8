// Positions in the middle of random matches, for pictures of games.

/** Maximum number of joint moves of a match. */
const MOST = 30;
/** Number of joint moves that are tried before a match is accepted as over. */
const TRIES = 12;

/** A function that sends requests to the server at an address: GET, or POST if there is a body. */
export function asker(home) {
  let cookie;
  return async (path, body) => {
    const headers = { ...(body && { 'content-type': 'application/json' }), ...(cookie && { cookie }) };
    const answer = await fetch(`${home}api/${path}`, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers });
    // Rules belong to the session that uploaded them.
    cookie ??= answer.headers.get('set-cookie')?.split(';')[0];
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
}

/** Pseudorandom numbers from 0 to below 1, with a text as the seed. */
function chances(text) {
  let state = [...text].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 2 ** 32, 7);
  return () => {
    state = (state * 69069 + 12345) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/**
 * The first position, and one in the middle of a match that avoids ending where possible, with the
 * moves that lead there. The same for the same name.
 */
export async function middle(asked, game, name = game) {
  const chance = chances(name);
  const made = [];
  const start = await asked(`games/${game}/position`, { moves: [] });
  if (start.over) throw new Error('it is over at its start');
  const positions = [start];
  const joint = async () => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const { legal } = positions.at(-1);
      if (legal.some((moves) => moves.length === 0)) return false;
      const chosen = legal.map((moves) => moves[Math.floor(chance() * moves.length)].move);
      const next = await asked(`games/${game}/position`, { moves: [...made, chosen] });
      if (next.over) continue;
      made.push(chosen);
      positions.push(next);
      return true;
    }
    return false;
  };
  while (made.length < MOST && await joint());
  const ply = Math.ceil(made.length / 2);
  return { start, moves: made.slice(0, ply), position: positions[ply], positions };
}
