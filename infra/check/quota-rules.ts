import type { AccountReader } from './account-reader.ts';
import { accountReads } from './account-reads.ts';
import { type Finding, mend, note, ok } from './rows.ts';

/** A quota and what there is of it. */
export interface QuotaFacts {
  /** How many there may be. */
  readonly limit: number;
  /** How many there are. */
  readonly used: number;
  /** Whether all were counted; else there are more. */
  readonly isWhole: boolean;
  /** How many the deploy adds. */
  readonly needed: number;
}

/** A quota of Service Quotas. */
export interface QuotaCode {
  readonly serviceCode: string;
  readonly quotaCode: string;
}

/**
 * What is left of a quota.
 *
 * @param next what to do where it is not enough
 */
export function judgeQuota({ limit, used, isWhole, needed }: QuotaFacts, next: string): Finding {
  const count = `${used}${isWhole ? '' : ' or more'} of ${limit} used, ${needed} needed`;
  if (used + needed > limit) return mend(count, next);
  return isWhole ? ok(count) : note(`${count}: they were counted no further`);
}

/** The command that asks AWS for more. IAM's quotas are those of the account, and asked for in one region alone. */
export function toIncreaseCommand({ serviceCode, quotaCode }: QuotaCode, desired: number): string {
  const command = `aws service-quotas request-service-quota-increase --service-code ${serviceCode}`;
  const where = serviceCode === 'iam' ? ' --region us-east-1' : '';
  return `${command} --quota-code ${quotaCode} --desired-value ${desired}${where}`;
}

/** What Service Quotas says of the account, else of all accounts. @throws NotReadError */
export async function readQuota(
  { serviceCode: ServiceCode, quotaCode: QuotaCode }: QuotaCode,
  reader: AccountReader,
): Promise<number> {
  const input = { ServiceCode, QuotaCode };
  const own = await reader.find(accountReads.getServiceQuota, input);
  const { Quota } = own ?? (await reader.get(accountReads.getDefaultServiceQuota, input));
  return Quota?.Value ?? 0;
}
