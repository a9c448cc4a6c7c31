import { getPath } from '#core/json.ts';

/** The expiry of a JSON Web Token, wall time in milliseconds, or undefined if it is not one. */
export function readTokenExpiry(token: string): number | undefined {
  try {
    const payload: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    const seconds = getPath(payload, 'exp');
    return typeof seconds === 'number' ? seconds * 1000 : undefined;
  } catch {
    return undefined;
  }
}
