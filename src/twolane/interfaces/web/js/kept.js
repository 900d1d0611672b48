// Small choices that the browser keeps. Storage may be forbidden: then nothing is kept, and no harm.

/** What was kept under a name, or null. */
export function kept(name, storage = "localStorage") {
  try {
    return globalThis[storage].getItem(`twolane.${name}`);
  } catch {
    return null;
  }
}

/** Keep a text under a name; null forgets it. */
export function keep(name, value, storage = "localStorage") {
  try {
    if (value === null) globalThis[storage].removeItem(`twolane.${name}`);
    else globalThis[storage].setItem(`twolane.${name}`, value);
  } catch {
    // The choice then holds until the page is closed.
  }
}
