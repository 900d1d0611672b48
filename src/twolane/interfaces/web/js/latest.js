// The answer that is on the screen; the drawer draws its explanation from it.

let answer = null;
const listeners = [];

/** The answer on the screen, or null. */
export const latest = () => answer;

/** The result of a document in that answer, or null. */
export const resultOf = (doc) => answer?.results.find((one) => one.id === doc) ?? null;

/** Another answer is on the screen now. */
export function setLatest(next) {
  answer = next;
  for (const listener of listeners) listener(answer);
}

/** Hear of every answer. */
export const onAnswer = (listener) => listeners.push(listener);
