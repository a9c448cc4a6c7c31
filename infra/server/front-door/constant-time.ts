import { hash, timingSafeEqual } from 'node:crypto';

/** Whether two texts are the same, compared in a time that reveals nothing of the expected one. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

/** Texts of all lengths have digests of one. */
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
