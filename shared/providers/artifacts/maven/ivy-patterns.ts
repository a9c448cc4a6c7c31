import { InvalidInputError } from '#core/errors.ts';
import { hasUserInfo } from '../download/url-guard.ts';

/** Longest pattern, in characters. */
export const ivyPatternLengthMax = 1_024;

/** The coordinates of a file in an Ivy repository. */
export interface IvyCoordinates {
  readonly organisation: string;
  readonly module: string;
  readonly revision: string;
  /** Name of the file itself; a module may have several files. */
  readonly artifact: string;
  readonly type: string;
  readonly ext: string;
}

/** A file of a module. */
export type IvyFile = Pick<IvyCoordinates, 'artifact' | 'type' | 'ext'>;

/** The file with the name of its module. */
export function toIvyFile(module: string, ext: string): IvyFile {
  return { artifact: module, type: ext, ext };
}

/** Ivy's further tokens, which fetched files never have. */
const emptyTokens: readonly string[] = ['branch', 'classifier'];

const tokens: readonly string[] = [
  ...['organisation', 'organization', 'orgPath', 'module', 'revision', 'artifact', 'type', 'ext'],
  ...emptyTokens,
];

function getValue(token: string, coordinates: IvyCoordinates): string {
  const values = new Map(Object.entries(coordinates));
  const organisation = coordinates.organisation;
  values.set('organization', organisation).set('orgPath', organisation.replaceAll('.', '/'));
  return values.get(token) ?? '';
}

/**
 * Checks that a pattern is the URL of a file with Ivy's tokens, such as
 * `https://repo.example.com/[orgPath]/[module]/[revision]/[artifact](-[classifier]).[ext]`.
 *
 * @throws InvalidInputError saying what was expected; the message does not contain the pattern.
 */
export function assertIvyPattern(pattern: string, context: string): void {
  if (pattern.length > ivyPatternLengthMax) {
    throw new InvalidInputError(`${context}: expected at most ${ivyPatternLengthMax} characters`);
  }
  const [server = ''] = /^https?:\/\/(?:\[[\da-f:.]+\]|[^/[(\\]+)\//i.exec(pattern) ?? [];
  const path = pattern.slice(server.length);
  const unknown = [...path.matchAll(/\[([^\]]*)\]/g)].find(([, token = '']) => !tokens.includes(token));
  const plain = path.replaceAll(/\[\w+\]/g, 'x').replaceAll(/\(([^()]*)\)/g, '$1');
  if (server !== '' && (unknown !== undefined || /[[\](){}]/.test(plain))) {
    throw new InvalidInputError(
      `${context}: expected no braces, parentheses in pairs, and no tokens but [${tokens.join('], [')}]`,
    );
  }
  const url = server === '' ? null : URL.parse(server + plain);
  if (url !== null && !hasUserInfo(url) && !url.search && !url.hash) return;
  throw new InvalidInputError(
    `${context}: expected an http or https URL without user name, query and fragment, whose host has no tokens`,
  );
}

/** The origin of a valid pattern. */
export function getPatternOrigin(pattern: string): URL {
  return new URL('/', pattern.slice(0, pattern.indexOf('/', 'https://'.length)));
}

/** The URL of a file. A part in parentheses is left out if it has an empty token. */
export function fillIvyPattern(pattern: string, coordinates: IvyCoordinates): URL {
  const toValue = (token: string) => getValue(token, coordinates);
  const encode = (value: string) => value.split('/').map(encodeURIComponent).join('/');
  const fill = (text: string) => text.replaceAll(/\[(\w+)\]/g, (_, token: string) => encode(toValue(token)));
  const isFilled = (text: string) =>
    [...text.matchAll(/\[(\w+)\]/g)].every(([, token = '']) => toValue(token) !== '');
  return new URL(
    fill(pattern.replaceAll(/\(([^()]*)\)/g, (_, part: string) => (isFilled(part) ? part : ''))),
  );
}
