import { listThumbprints } from '#access/identity/key-thumbprint.ts';
import type { AgentAuth, AgentKeySource } from '#accounts/model/account.ts';
import { isSameDistinguishedName, parseDistinguishedName } from '#core/distinguished-name.ts';
import { asJsonObject, asString, type JsonValue } from '#core/json.ts';
import { isSameRole, parseRoleArn } from '#core/role-arn.ts';

/** The proved identity of an agent: a session remembers it, and it is held against the account's settings of now. */
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
  return hasRole(auth.roleArns, asString(proved?.['role']) ?? '');
}

/** Whether an account takes every proof now that it took before. */
export function takesAll(now: AgentAuth, before: AgentAuth): boolean {
  if (before.type === 'certificate')
    return (
      now.type === 'certificate' &&
      before.subjects.every((subject) => findSubject(now.subjects, subject) !== undefined)
    );
  if (before.type === 'iam')
    return now.type === 'iam' && before.roleArns.every((arn) => hasRole(now.roleArns, arn));
  return (
    now.type === 'serviceAccount' && toIdentity(now) === toIdentity(before) && hasKeys(now.keys, before.keys)
  );
}

function hasRole(roleArns: readonly string[], arn: string): boolean {
  const role = parseRoleArn(arn);
  return role !== undefined && findRoleArn(roleArns, role) !== undefined;
}

/** Keys at a URL are not fetched here: another URL may have other keys. */
function hasKeys(now: AgentKeySource, before: AgentKeySource): boolean {
  if (before.url !== undefined || now.url !== undefined) return now.url?.href === before.url?.href;
  const known = listThumbprints(now.keys);
  return [...listThumbprints(before.keys)].every((thumbprint) => known.has(thumbprint));
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
