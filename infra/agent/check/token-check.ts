import { getErrorMessage } from '#core/errors.ts';
import { asJsonObject, type JsonObject, type JsonValue, parseJson } from '#core/json.ts';
import type { ProofSource } from '../hub/proof-source.ts';
import type { CheckRow } from './check-table.ts';

/** How the audience of a token for Busdriver begins; the rest names the installation. */
const audienceStart = 'busdriver:';

/** Looks at the token that proves who the agent is: for whom it is and until when, not whether its signature holds. Never rejects. */
export async function checkToken(proof: ProofSource, nowMs: number): Promise<CheckRow> {
  const what = 'token';
  try {
    const token = await proof.read();
    if (token === '') {
      const other = proof.sign === undefined ? 'the certificate of the connection' : 'a role of IAM';
      return { what, verdict: 'good', details: `none: ${other} proves who the agent is` };
    }
    const claims = decodeClaims(token);
    if (claims === undefined) {
      return {
        what,
        verdict: 'bad',
        details: 'it is no token of a cluster: expected a JSON Web Token of a service account',
      };
    }
    const fault = findFault(claims, nowMs);
    const details = `${describe(claims, nowMs)}${fault === undefined ? '' : `; ${fault}`}`;
    return { what, verdict: fault === undefined ? 'good' : 'bad', details };
  } catch (error) {
    return { what, verdict: 'bad', details: getErrorMessage(error) };
  }
}

function decodeClaims(token: string): JsonObject | undefined {
  const [, payload = '', ...others] = token.split('.');
  if (others.length !== 1) return undefined;
  return asJsonObject(parseJson(Buffer.from(payload, 'base64url').toString('utf8')));
}

function findFault(claims: JsonObject, nowMs: number): string | undefined {
  const { exp } = claims;
  if (!listAudiences(claims).some((audience) => audience.startsWith(audienceStart)))
    return `expected an audience that begins with ${audienceStart}`;
  if (typeof exp !== 'number') return 'it has no end: expected a projected token';
  return exp * 1_000 <= nowMs ? 'it is over' : undefined;
}

function describe(claims: JsonObject, nowMs: number): string {
  const { iss, sub, exp } = claims;
  const seconds = typeof exp === 'number' ? Math.round(exp - nowMs / 1_000) : undefined;
  const end =
    seconds === undefined ? 'no end' : seconds > 0 ? `ends in ${seconds} s` : `ended ${-seconds} s ago`;
  const audiences = listAudiences(claims).join(', ') || 'no audience';
  return `issuer ${toText(iss)}, subject ${toText(sub)}, for ${audiences}, ${end}`;
}

function listAudiences({ aud }: JsonObject): readonly string[] {
  return (Array.isArray(aud) ? aud : [aud]).filter((each) => typeof each === 'string');
}

function toText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : 'none';
}
