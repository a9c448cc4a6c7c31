/** An IAM role. Its name is unique in its account, whatever its path. */
export interface Role {
  /** `aws`, `aws-cn`, `aws-us-gov` … */
  readonly partition: string;
  /** Twelve digits. */
  readonly account: string;
  /** Without its path. */
  readonly name: string;
}

/** Longest ARN that is read, in characters: a path has 512 at most, a name 64. */
const arnLengthMax = 1024;

const roleArn = /^arn:(aws(?:-[a-z]+)*):iam::(\d{12}):role\/(?:[\x21-\x2e\x30-\x7e]+\/)*([\w+=,.@-]{1,64})$/;
const assumedRoleArn =
  /^arn:(aws(?:-[a-z]+)*):sts::(\d{12}):assumed-role\/([\w+=,.@-]{1,64})\/[\w+=,.@-]{1,64}$/;

/** Reads `arn:aws:iam::111122223333:role/path/name`. @returns undefined for anything else */
export function parseRoleArn(text: string): Role | undefined {
  return toRole(roleArn, text);
}

/**
 * Reads `arn:aws:sts::111122223333:assumed-role/name/session`, AWS' name for a caller with a role. It has no path.
 *
 * @returns undefined for other callers: a user, the root of an account
 */
export function parseAssumedRoleArn(text: string): Role | undefined {
  return toRole(assumedRoleArn, text);
}

/** Whether two roles are the same: partition, account and name are equal, letter by letter. */
export function isSameRole(one: Role, other: Role): boolean {
  return one.partition === other.partition && one.account === other.account && one.name === other.name;
}

function toRole(pattern: RegExp, text: string): Role | undefined {
  if (text.length > arnLengthMax) return undefined;
  const [, partition, account, name] = pattern.exec(text) ?? [];
  if (partition === undefined || account === undefined || name === undefined) return undefined;
  return { partition, account, name };
}
