import { isSameDistinguishedName, parseDistinguishedName } from '../../core/distinguished-name.ts';
import { asJsonObject, asString, type JsonValue } from '../../core/json.ts';
import { isSameRole, parseRoleArn } from '../../core/role-arn.ts';
import type { AgentAuth } from '../../core/settings/account.ts';

/** Who an agent has proved to be: what a session remembers, and what is held against the account's settings of now. */
export type ProvedIdentity =
  | { readonly issuer: string; readonly subject: string }
  /** Subject of a certificate, as RFC 2253 writes it. */
  | { readonly certificate: string }
  /** ARN of a role, as the account names it. */
  | { readonly role: string };

/** An identity as a text. */
export function toIdentity(proved: ProvedIdentity): string {
  return JSON.stringify('issuer' in proved ? [proved.issuer, proved.subject] : proved);
}

/** Whether an account still wants the agent that proved to be somebody. @param identity what {@link toIdentity} made */
export function isWanted(auth: AgentAuth, identity: string): boolean {
  if (auth.type === 'serviceAccount') return identity === toIdentity(auth);
  const proved = asJsonObject(JSON.parse(identity) as JsonValue);
  if (auth.type === 'certificate')
    return findSubject(auth.subjects, asString(proved?.['certificate'])) !== undefined;
  const role = parseRoleArn(asString(proved?.['role']) ?? '');
  return role !== undefined && findRoleArn(auth.roleArns, role) !== undefined;
}

/** The one of some subjects that a certificate has; undefined where it has none of them. */
export function findSubject(subjects: readonly string[], shown: string | undefined): string | undefined {
  const name = parseDistinguishedName(shown ?? '');
  if (name === undefined) return undefined;
  return subjects.find((each) => {
    const wanted = parseDistinguishedName(each);
    return wanted !== undefined && isSameDistinguishedName(wanted, name);
  });
}

/** The ARN of a role among some; undefined where it is not there. */
export function findRoleArn(
  roleArns: readonly string[],
  role: NonNullable<ReturnType<typeof parseRoleArn>>,
): string | undefined {
  return roleArns.find((each) => {
    const wanted = parseRoleArn(each);
    return wanted !== undefined && isSameRole(wanted, role);
  });
}
