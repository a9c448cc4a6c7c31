import type { APIGatewayProxyEvent } from 'aws-lambda';
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { trimBlanks } from '#core/blanks.ts';
import type { Clock } from '#core/clock.ts';
import { UnauthenticatedError } from '#core/errors.ts';
import type { Identifier, Identity } from './identifier.ts';
import { listHeaderValues, tokenHeader, userHeader } from './identity-headers.ts';
import type { SignedIdentitySettings } from './identity-settings.ts';
import type { KeySet } from './key-set.ts';

/** Seconds by which the signer's clock may differ from ours. */
export const clockToleranceSeconds = 60;

/** Longest token, in characters. API Gateway allows 10,240 bytes for request line and headers together. */
export const tokenLengthMax = 10_240;

/** Accounts that a token may name. */
export const tokenAccountsMax = 5_000;

interface SignedIdentifierOptions {
  readonly settings: SignedIdentitySettings;
  readonly keys: KeySet;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Identifies callers by the JWT in `X-Busdriver-Identity`: `sub` is the user, `accounts` (a list) replaces `X-SPINNAKER-ACCOUNTS`, which is
 * ignored. `X-SPINNAKER-USER` may be there, but must name the same user.
 */
export function createSignedIdentifier({ settings, keys, clock }: SignedIdentifierOptions): Identifier {
  const { issuer, audience, algorithms } = settings;

  async function verify(token: string, find: JWTVerifyGetKey): Promise<JWTPayload> {
    const { payload } = await jwtVerify(token, find, {
      issuer,
      audience: [...audience],
      algorithms: [...algorithms],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(clock.now()),
      requiredClaims: ['exp', 'sub'],
    });
    return payload;
  }

  async function verifyByNewest(token: string): Promise<JWTPayload> {
    const find = await keys.getKeys();
    try {
      return await verify(token, find);
    } catch (error) {
      const newer = error instanceof errors.JWKSNoMatchingKey ? await keys.findNewerKeys() : undefined;
      if (newer === undefined) throw error;
      return verify(token, newer);
    }
  }

  return {
    async identify(event) {
      const token = getToken(event);
      const claims = await verifyByNewest(token).catch(refuseToken);
      const user = readSubject(claims);
      checkUser(event, user);
      return { kind: 'signed', user, allowedAccounts: readAccounts(claims) } satisfies Identity;
    },
  };
}

function getToken(event: APIGatewayProxyEvent): string {
  const [token, ...others] = listHeaderValues(event, tokenHeader);
  if (token === undefined || others.length > 0)
    throw new UnauthenticatedError('Expected one header X-Busdriver-Identity with a signed token (JWT)');
  if (token.length <= tokenLengthMax) return token;
  throw new UnauthenticatedError(`X-Busdriver-Identity is longer than ${tokenLengthMax} characters`);
}

/** jose's messages name what is wrong, and quote nothing of the token. */
function refuseToken(error: unknown): never {
  if (!(error instanceof errors.JOSEError)) throw error;
  throw new UnauthenticatedError(`X-Busdriver-Identity is refused: ${error.message}`, { cause: error });
}

function readSubject({ sub }: JWTPayload): string {
  if (typeof sub === 'string' && sub.trim() !== '') return sub;
  throw new UnauthenticatedError('X-Busdriver-Identity is refused: its claim sub names no user');
}

function checkUser(event: APIGatewayProxyEvent, user: string): void {
  if (listHeaderValues(event, userHeader).every((value) => value === user)) return;
  throw new UnauthenticatedError('X-SPINNAKER-USER names another user than X-Busdriver-Identity');
}

function readAccounts({ accounts }: JWTPayload): readonly string[] | undefined {
  if (accounts === undefined) return undefined;
  if (!Array.isArray(accounts) || accounts.length > tokenAccountsMax || !accounts.every(isText)) {
    throw new UnauthenticatedError(
      `X-Busdriver-Identity is refused: its claim accounts is no list of at most ${tokenAccountsMax} names`,
    );
  }
  return accounts.map(trimBlanks).filter((name) => name !== '');
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
