import type { JsonBounds } from '#core/bounded-json.ts';

/** Characters of an answer's header with the next URL. */
export const headerLengthMax = 8_192;

/** Bytes of an answer of a token server, and of a refusal. */
export const smallAnswerBytesMax = 64 * 2 ** 10;

/** Nesting and number of values of an answer. */
export const answerJsonBounds: JsonBounds = { depthMax: 64, valuesMax: 200_000 };

/** Tokens that an account remembers: one for each repository. */
export const tokensMax = 10_000;
