import { hash } from 'node:crypto';
import type { StoredAccount } from '#accounts/model/account-store.ts';
import { InvalidInputError, PreconditionFailedError } from '#core/errors.ts';
import { ifMatchMax, ifNoneMatchMax } from '#core/request-limits.ts';
import type { ApiRequest } from './api-request.ts';
import type { ApiResponse } from './api-response.ts';

/** Headers for answers that callers may keep if they revalidate them each time; the same tag holds for the gzipped bytes. */
const keepHeaders = { 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' };

/**
 * Adds an `ETag` to an answer, and answers 304 without a body when the caller's `If-None-Match` has it: RFC 9110, sections 8.8.3, 13.1.2
 * and 15.4.5. The tag is weak, since the answer may be compressed. It is made from the answer, after rights were checked: it reveals
 * nothing that another caller sees. Answers other than 200 are unchanged.
 *
 * @param tag tag of the body, where it is known
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

/** The tag of a text, without the mark of a weak one. */
export function toTextTag(text: string): string {
  return `"${hash('sha256', text, 'base64url')}"`;
}

/** Whether a list of tags, or `*`, includes a tag; weak ones equal strong ones. Malformed ones match nothing. */
function hasTag(ifNoneMatch: string | undefined, tag: string): boolean {
  const text = (ifNoneMatch ?? '').slice(0, ifNoneMatchMax).trim();
  if (text === '*') return true;
  return text.split(',').some((each) => each.trim().replace(/^W\//, '') === tag);
}

/** The tag of an account's revision in `ETag` and `If-Match`. */
export function toTag({ revision }: Pick<StoredAccount, 'revision'>): string {
  return `"${revision}"`;
}

/** @throws PreconditionFailedError when the caller's `If-Match` has another revision; InvalidInputError where that is too long */
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
