import { hash } from 'node:crypto';
import type { StoredAccount } from '#accounts/model/account-store.ts';
import { InvalidInputError, PreconditionFailedError } from '#core/errors.ts';
import { ifMatchMax, ifNoneMatchMax } from '#core/request-limits.ts';
import type { ApiRequest, ApiResponse } from './api-function.ts';

/** What callers may keep, for as long as they ask each time whether it is still so; and it is the same bytes, gzipped or not. */
const keepHeaders = { 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' };

/**
 * Names what an answer holds by an `ETag`, and leaves it out (304) for a caller whose `If-None-Match` has that name: RFC 9110,
 * sections 8.8.3, 13.1.2 and 15.4.5. The tag is weak, since the answer may come compressed. It is made of what is answered, after
 * rights were asked: nobody learns by it what another caller sees. Anything but a 200 is handed on as it is.
 *
 * @param tag that of the body, where it is known
 */
export function answerIfChanged(
  request: Pick<ApiRequest, 'findHeader'>,
  response: ApiResponse & { readonly body: string },
  tag = toTextTag(response.body),
): ApiResponse {
  if (response.status !== 200) return response;
  const headers = { ...response.headers, ...keepHeaders, ETag: `W/${tag}` };
  const isKnown = hasTag(request.findHeader('if-none-match'), tag);
  return isKnown ? { status: 304, body: '', headers } : { ...response, headers };
}

/** The tag of a text, without what marks it as weak. */
export function toTextTag(text: string): string {
  return `"${hash('sha256', text, 'base64url')}"`;
}

/** Whether a list of tags, or `*`, names a tag; weak ones name the same as strong ones. What is malformed names nothing. */
function hasTag(ifNoneMatch: string | undefined, tag: string): boolean {
  const text = (ifNoneMatch ?? '').slice(0, ifNoneMatchMax).trim();
  if (text === '*') return true;
  return text.split(',').some((each) => each.trim().replace(/^W\//, '') === tag);
}

/** What names the revision of an account in `ETag` and `If-Match`. */
export function toTag({ revision }: Pick<StoredAccount, 'revision'>): string {
  return `"${revision}"`;
}

/** @throws PreconditionFailedError when the caller names another revision by `If-Match`; InvalidInputError where that is too long */
export function checkRevision(
  request: Pick<ApiRequest, 'findHeader'>,
  name: string,
  stored: StoredAccount | undefined,
): void {
  const wanted = request.findHeader('if-match') ?? '';
  if (wanted.length > ifMatchMax) {
    throw new InvalidInputError(`If-Match: expected at most ${ifMatchMax} characters, got ${wanted.length}`);
  }
  if (wanted.trim() === '') return;
  const tags = wanted.split(',').map((tag) => tag.trim());
  const isMet = stored !== undefined && (tags.includes('*') || tags.includes(toTag(stored)));
  if (isMet) return;
  const state = stored === undefined ? 'does not exist' : `has revision ${stored.revision}`;
  throw new PreconditionFailedError(`The account ${name} ${state}`);
}
