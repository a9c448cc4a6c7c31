import { FailedOperationError } from '#core/errors.ts';
import { headerLengthMax } from './limits.ts';

/** How a registry wants callers to say who they are, as its 401 tells. */
export type Challenge =
  | { readonly scheme: 'basic' }
  | {
      readonly scheme: 'bearer';
      /** URL of the token server, as the registry wrote it. */
      readonly realm: string;
      readonly service: string | undefined;
      readonly scope: string | undefined;
    };

/**
 * Reads `WWW-Authenticate`: a token where the registry gives some, else a password. Undefined for what says neither.
 *
 * @param header several joined by commas, as they may be sent.
 */
export function parseChallenge(header: string): Challenge | undefined {
  if (header.length > headerLengthMax) return undefined;
  const bearer = header.search(/\bBearer\s/i);
  if (bearer >= 0) {
    const parameters = readParameters(header.slice(bearer));
    const realm = parameters.get('realm');
    if (realm) {
      return { scheme: 'bearer', realm, service: parameters.get('service'), scope: parameters.get('scope') };
    }
  }
  return /\bBasic\b/i.test(header) ? { scheme: 'basic' } : undefined;
}

/** The first of each name. */
function readParameters(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', value = ''] of text.matchAll(/\b(realm|service|scope)="([^"]*)"/gi)) {
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value);
  }
  return found;
}

/**
 * The URL of the next page that `Link` names (RFC 8288): `</v2/_catalog?n=100&last=b>; rel="next"`. Of what it names path and query
 * count: a registry behind a proxy may know itself by another name. Undefined where there is none.
 *
 * @param page the URL of this page, whose host is asked.
 * @throws FailedOperationError when it is this page
 */
export function findNextPage(header: string, page: URL): URL | undefined {
  const target = header.length > headerLengthMax ? undefined : findNextTarget(header);
  const named = target === undefined ? null : URL.parse(target, page.href);
  if (named === null) return undefined;
  const next = new URL(page);
  next.pathname = named.pathname;
  next.search = named.search;
  if (next.href !== page.href) return next;
  throw new FailedOperationError(`${page.host} names as the next page the one that names it`);
}

function findNextTarget(header: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(/<([^<>]*)>([^<]*)/g)) {
    if (/\brel="?next\b/i.test(parameters)) return target;
  }
  return undefined;
}
