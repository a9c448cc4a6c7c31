import { KeyObject } from 'node:crypto';
import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { readClientCertificate } from '#access/identity/client-certificate.ts';
import { signatureAlgorithms } from '#access/identity/identity-settings.ts';
import { type KeySet, openKeySet } from '#access/identity/key-set.ts';
import { toThumbprint } from '#access/identity/key-thumbprint.ts';
import type {
  AgentAuth,
  AgentKeySource,
  CertificateAuth,
  IamAuth,
  ServiceAccountAuth,
} from '#accounts/model/account.ts';
import type { Clock } from '#core/clock.ts';
import { UnavailableError } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { parseAssumedRoleArn } from '#core/role-arn.ts';
import type { SessionAccount } from '../agent-session.ts';
import { findRoleArn, findSubject, isWanted, type ProvedIdentity } from './agent-identity.ts';
import { type TokenOutcome, TokenProof } from './token-proof.ts';

/** Seconds by which the clock of a cluster may differ from ours. */
const clockToleranceSeconds = 60;

/** Characters of a token at most. */
export const proofLengthMax = 16_384;

/** Keys of a cluster are fetched this often at most, also for a token whose key is not known: milliseconds. */
export const agentKeysPauseMs = 60_000;

interface AgentProofsOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** Whom tokens must be meant for. */
  readonly audience: string;
}

/** Evidence that an agent shows to prove who it is. */
export interface AgentEvidence {
  /** The bearer token. */
  readonly token?: string | undefined;
  /** PEM of the certificate of the connection, which TLS has verified. */
  readonly certificate?: string | undefined;
  /** ARN of who signed the request by Signature Version 4, as API Gateway has found. */
  readonly signer?: string | undefined;
}

/**
 * The outcome of evidence: who it proves, of a token also the thumbprint (RFC 7638) of the key that signed it; or in words that quote no secret
 * why it does not prove an agent of the account.
 */
export type ProofOutcome =
  | { readonly proved: ProvedIdentity; readonly key?: string; readonly fault?: undefined }
  | { readonly fault: string; readonly proved?: undefined };

/** Evidence of an agent, held against its accounts one by one. */
export interface ShownEvidence {
  /** Whether it proves an agent of an account. @throws UnavailableError when the account's keys cannot be had */
  prove(auth: AgentAuth): Promise<ProofOutcome>;
}

/** Verifies by what agents prove who they are. */
export class AgentProofs {
  readonly #options: AgentProofsOptions;
  /** By where the keys are: an account that is read again has the same. */
  readonly #keys = new Map<string, KeySet>();
  readonly #given = new WeakMap<AgentKeySource, KeySet>();

  constructor(options: AgentProofsOptions) {
    this.#options = options;
  }

  /** Looks at what one agent shows: its token is verified once for all accounts with the same keys. */
  examine(evidence: AgentEvidence): ShownEvidence {
    const { token } = evidence;
    const proof =
      token === undefined || token.length > proofLengthMax
        ? undefined
        : new TokenProof(token, { ...this.#options, verify: (...given) => this.#tryToken(...given) });
    return {
      prove: async (auth) => {
        if (auth.type === 'serviceAccount') return proveByToken(token, proof, auth);
        if (auth.type === 'certificate') return proveByCertificate(evidence, auth, this.#options.clock.now());
        return proveByRole(evidence, auth);
      },
    };
  }

  /** Whom tokens must be meant for. */
  get audience(): string {
    return this.#options.audience;
  }

  /**
   * Whether an account still takes the proof by which an agent was let in.
   *
   * @param proof what the session remembers of it: one of a token without its key, as releases before stored it, is none
   * @param looksElsewhere whether keys at a URL are looked at, too: those that cannot be had for the moment count as there. Default false
   */
  async takes(
    auth: AgentAuth,
    { identity, key }: Pick<SessionAccount, 'identity' | 'key'>,
    looksElsewhere = false,
  ): Promise<boolean> {
    if (!isWanted(auth, identity)) return false;
    if (auth.type !== 'serviceAccount') return true;
    if (key === undefined) return false;
    if (auth.keys.url !== undefined && !looksElsewhere) return true;
    return this.#openKeys(auth.keys).hasKey(key).catch(toUnknown);
  }

  async #tryToken(token: string, auth: ServiceAccountAuth): Promise<TokenOutcome> {
    try {
      return { key: await this.#verify(token, auth) };
    } catch (error) {
      if (error instanceof errors.JOSEError) return { fault: error.message };
      throw error;
    }
  }

  /** @returns the thumbprint of the key that signed it */
  async #verify(token: string, auth: ServiceAccountAuth): Promise<string> {
    const keys = this.#openKeys(auth.keys);
    const find = await keys.getKeys();
    try {
      return await this.#verifyWith(token, auth, find);
    } catch (error) {
      const newer = error instanceof errors.JWKSNoMatchingKey ? await keys.findNewerKeys() : undefined;
      if (newer === undefined) throw error;
      return this.#verifyWith(token, auth, newer);
    }
  }

  async #verifyWith(
    token: string,
    { issuer, subject }: ServiceAccountAuth,
    find: JWTVerifyGetKey,
  ): Promise<string> {
    const { key } = await jwtVerify(token, find, {
      issuer,
      subject,
      audience: this.#options.audience,
      algorithms: [...signatureAlgorithms],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(this.#options.clock.now()),
      requiredClaims: ['exp'],
    });
    if (key instanceof Uint8Array) throw new Error('a token was verified by a key that is no public one');
    return toThumbprint(KeyObject.from(key));
  }

  #openKeys(source: AgentKeySource): KeySet {
    const url = source.url?.href;
    const known = url === undefined ? this.#given.get(source) : this.#keys.get(url);
    if (known !== undefined) return known;
    const keys = openKeySet(source, { ...this.#options, pauseMs: agentKeysPauseMs });
    if (url === undefined) this.#given.set(source, keys);
    else this.#keys.set(url, keys);
    return keys;
  }
}

/** Silence says nothing of a key. @throws any other error */
function toUnknown(error: unknown): true {
  if (error instanceof UnavailableError) return true;
  throw error;
}

async function proveByToken(
  token: string | undefined,
  proof: TokenProof | undefined,
  auth: ServiceAccountAuth,
): Promise<ProofOutcome> {
  if (token === undefined) return { fault: 'there is no token, which the account asks for' };
  if (proof === undefined) return { fault: `the token is longer than ${proofLengthMax} characters` };
  const outcome = await proof.prove(auth);
  return outcome.fault === undefined ? { proved: auth, key: outcome.key } : outcome;
}

function proveByCertificate(
  { certificate: pem }: AgentEvidence,
  { subjects }: CertificateAuth,
  nowMs: number,
): ProofOutcome {
  if (pem === undefined)
    return { fault: 'the connection has no client certificate, which the account asks for' };
  const certificate = readClientCertificate(pem);
  if (certificate === undefined) return { fault: 'the client certificate cannot be read' };
  const { subject, fromMs, untilMs } = certificate;
  // TLS has looked at this when the connection was opened, which may be long ago.
  if (nowMs < fromMs) return { fault: 'the client certificate does not hold yet' };
  if (nowMs > untilMs) return { fault: 'the client certificate is over' };
  const found = findSubject(subjects, subject);
  if (found === undefined)
    return { fault: `the account has no subject ${subject.slice(0, 500)}, which the certificate has` };
  return { proved: { certificate: found } };
}

function proveByRole({ signer }: AgentEvidence, { roleArns }: IamAuth): ProofOutcome {
  if (signer === undefined)
    return { fault: 'the request is not signed for IAM, which the account asks for: /agent/v1/iam-sessions' };
  const role = parseAssumedRoleArn(signer);
  if (role === undefined) return { fault: `${signer.slice(0, 500)} is no role that was assumed` };
  const found = findRoleArn(roleArns, role);
  if (found === undefined)
    return { fault: `the account has no role ${role.name} of account ${role.account}` };
  return { proved: { role: found } };
}
