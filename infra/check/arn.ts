import { type Finding, mend } from './rows.ts';
import type { Subject } from './subject.ts';

/** The parts of an ARN. */
export interface Arn {
  readonly service: string;
  /** Empty for what belongs to no region. */
  readonly region: string;
  readonly account: string;
  /** All behind the account. */
  readonly resource: string;
}

/** Takes an ARN to pieces: parts that are missing are empty. */
export function parseArn(arn: string): Arn {
  const [, , service = '', region = '', account = '', ...rest] = arn.split(':');
  return { service, region, account, resource: rest.join(':') };
}

/** Where something must be. */
export type Place = Pick<Subject, 'region' | 'account'>;

/** What is wrong with where something is that must be in the region of the stacks; undefined where nothing is. */
export function judgeRegion(arn: string, option: string, { region }: Place): Finding | undefined {
  const { region: found } = parseArn(arn);
  if (found === region) return undefined;
  return mend(
    `${arn} is in ${found || 'no region'}, and the stacks go to ${region}`,
    `-c ${option}=… with one of ${region}`,
  );
}

/** The same of the AWS account. */
export function judgeAccount(arn: string, option: string, { account }: Place): Finding | undefined {
  const { account: found } = parseArn(arn);
  if (found === account) return undefined;
  return mend(
    `${arn} is of account ${found}, and the stacks go to ${account}`,
    `-c ${option}=… with one of ${account}`,
  );
}
