import { getPath } from '../../shared/core/json.ts';
import type { AccountReader } from './account-reader.ts';
import { accountReads } from './account-reads.ts';
import { findResources, type PlannedStack } from './deployment-plan.ts';
import { toIncreaseCommand } from './quota-rules.ts';
import { type Check, defineCheck, type Finding, mend, note, ok } from './rows.ts';
import { listNewStacks, type Subject } from './subject.ts';

const matter = 'quotas';

/** Lambda keeps as many concurrent executions for functions that reserve none ("Configuring reserved concurrency"). */
const unreservedMin = 100;

const concurrencyCode = { serviceCode: 'lambda', quotaCode: 'L-B99A9384' };
const storageCode = { serviceCode: 'lambda', quotaCode: 'L-2ACBD22F' };

/** What one function and its maps take in Lambda, bytes, at most: test/infra/bundles.test.ts holds them to less. */
const functionBytesMax = 8_000_000;

/** Concurrency of Lambda. */
export interface ConcurrencyFacts {
  /** Of the account in the region. */
  readonly limit: number;
  /** What no function has reserved. */
  readonly unreserved: number;
  /** What functions of this installation have reserved already. */
  readonly reservedByUs: number;
}

/** What the plan takes of Lambda's concurrency. */
export interface ConcurrencyNeed {
  /** What functions reserve. */
  readonly reserved: number;
  /** What workers without a reserve may take at once. */
  readonly shared: number;
}

/** Storage of Lambda, bytes. */
export interface StorageFacts {
  readonly limit: number;
  readonly used: number;
  readonly needed: number;
}

/** Lambda's concurrency and storage. */
export function listConcurrencyChecks(subject: Subject): readonly Check[] {
  const { stacks } = subject.plan;
  return [
    defineCheck({
      matter,
      what: 'concurrent executions of Lambda',
      gather: (reader) => readConcurrency(stacks, reader),
      judge: (facts) => [judgeConcurrency(facts, countConcurrency(stacks))],
    }),
    defineCheck({
      matter,
      what: 'storage of Lambda',
      async gather(reader): Promise<StorageFacts> {
        const needed =
          functionBytesMax * findResources(listNewStacks(subject), 'AWS::Lambda::Function').length;
        const { AccountLimit, AccountUsage } = await reader.get(accountReads.getAccountSettings, {});
        return {
          limit: AccountLimit?.TotalCodeSize ?? 0,
          used: AccountUsage?.TotalCodeSize ?? 0,
          needed,
        };
      },
      judge: (facts) => [judgeStorage(facts)],
    }),
  ];
}

/** What the functions of a plan take. */
export function countConcurrency(stacks: readonly PlannedStack[]): ConcurrencyNeed {
  const sum = (values: readonly unknown[]) =>
    values.reduce<number>((total, value) => total + (typeof value === 'number' ? value : 0), 0);
  const reserved = sum(
    findResources(stacks, 'AWS::Lambda::Function').map(
      ({ properties }) => properties['ReservedConcurrentExecutions'],
    ),
  );
  const polled = sum(
    findResources(stacks, 'AWS::Lambda::EventSourceMapping').map(({ properties }) =>
      getPath(properties, 'ScalingConfig', 'MaximumConcurrency'),
    ),
  );
  return { reserved, shared: polled - reserved };
}

/** Whether the reserve can be taken, and what is left for all others. */
export function judgeConcurrency(facts: ConcurrencyFacts, { reserved, shared }: ConcurrencyNeed): Finding {
  const { limit, unreserved, reservedByUs } = facts;
  const available = unreserved + reservedByUs;
  const left = available - reserved;
  const count = `limit ${limit}, ${available} not reserved by others, ${reserved} to be reserved`;
  const increase = toIncreaseCommand(concurrencyCode, Math.max(1000, limit + unreservedMin - left));
  if (left < unreservedMin) {
    const spare = available - unreservedMin;
    const less = spare >= 2 ? `; or -c concurrency=operations=${spare}` : '';
    return mend(`${count}: Lambda must keep ${unreservedMin} for the others`, `${increase}${less}`);
  }
  // Requests want their share beside what caching may take.
  if (left < shared + unreservedMin)
    return note(`${count}; caching may take ${shared} of the ${left} that are left`, increase);
  return ok(`${count}; caching may take ${shared} of the ${left} that are left`);
}

/** Whether the code fits. */
export function judgeStorage({ limit, used, needed }: StorageFacts): Finding {
  const toGb = (bytes: number): string => (bytes / 1e9).toFixed(1);
  const count = `${toGb(used)} of ${toGb(limit)} GB used, ${toGb(needed)} GB at most needed`;
  if (used + needed <= limit) return ok(count);
  return mend(
    count,
    `delete functions and versions that nobody needs; or ${toIncreaseCommand(storageCode, Math.ceil((used + needed) / 1e9))}`,
  );
}

async function readConcurrency(
  stacks: readonly PlannedStack[],
  reader: AccountReader,
): Promise<ConcurrencyFacts> {
  const names = findResources(stacks, 'AWS::Lambda::Function')
    .filter(({ properties }) => properties['ReservedConcurrentExecutions'] !== undefined)
    .map(({ properties }) => String(properties['FunctionName']));
  const [{ AccountLimit }, ...reserves] = await Promise.all([
    reader.get(accountReads.getAccountSettings, {}),
    ...names.map((FunctionName) => reader.find(accountReads.getFunctionConcurrency, { FunctionName })),
  ]);
  return {
    limit: AccountLimit?.ConcurrentExecutions ?? 0,
    unreserved: AccountLimit?.UnreservedConcurrentExecutions ?? 0,
    reservedByUs: reserves.reduce((sum, answer) => sum + (answer?.ReservedConcurrentExecutions ?? 0), 0),
  };
}
