import { FailedOperationError } from '#core/errors.ts';
import { headerLengthMax } from './limits.ts';

/** How a registry wants callers to authenticate, by its 401. */
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
 * Reads `WWW-Authenticate`: a token where the registry issues some, else a password. Undefined for neither.
 *
 * @param header may have several values, separated by commas.
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

/** The first value of each name. */
function readParameters(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', value = ''] of text.matchAll(/\b(realm|service|scope)="([^"]*)"/gi)) {
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value);
  }
  return found;
}

/**
 * The URL of the next page in `Link` (RFC 8288): `</v2/_catalog?n=100&last=b>; rel="next"`. Only its path and query are used: a registry
 * behind a proxy may know itself by another name. Undefined where there is none.
 *
 * @param page the URL of this page, whose host is called.
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
