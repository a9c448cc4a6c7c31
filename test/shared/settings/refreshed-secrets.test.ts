import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { cacheTable } from '#platform/aws/tables.ts';
import type { LookupStore } from '#platform/ports/lookup.ts';
import { RefreshedSecrets, secretLifetimeMs } from '#settings/refreshed-secrets.ts';
import type { SecretReading, SecretReference } from '#settings/secret-reference.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createRandom } from '#test/support/run/seeded-random.ts';
import { createStandingClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { awayStore, openLookups } from '#test/support/services/lookup-processes.ts';

const openTable = useLocalTables();
const planted = 'planted-secret';

let clock: TestClock;
let reference: SecretReference;
/** What Secrets Manager has; undefined when it refuses. */
let secret: { text: string; versionId?: string | undefined } | undefined;
let loads: number;

beforeEach(() => {
  clock = createStandingClock();
  reference = { id: testRandomness.id() };
  secret = { text: `${planted} 1`, versionId: 'v1' };
  loads = 0;
});

/** A process that remembers a secret, and looks again when it was told to. */
class Process {
  readonly #secrets: RefreshedSecrets;
  reading: SecretReading | undefined;

  constructor(store: LookupStore | undefined, seed = 1) {
    const fraction = createRandom(seed);
    const load = async () => {
      loads += 1;
      if (secret === undefined) throw new Error('throttled');
      return { versionId: undefined, ...secret };
    };
    this.#secrets = new RefreshedSecrets({ store, clock, randomness: { fraction }, load });
  }

  /** The text that it uses now. */
  async use(isDoubted = false): Promise<string> {
    const { reading } = this;
    const isDue = reading === undefined || isDoubted || clock.now() >= reading.readAgainAtMs;
    if (isDue) this.reading = await this.#secrets.follow(reference, reading && { reading, isDoubted });
    return this.reading?.text ?? '';
  }
}

const openProcess = (seed = 1) => new Process(openLookups(openTable(cacheTable), clock).store, seed);

/** Has it look again, whether or not it is time. */
function look(one: Process): Promise<string> {
  if (one.reading !== undefined) one.reading = { ...one.reading, readAgainAtMs: 0 };
  return one.use();
}

describe('a secret that processes follow', () => {
  it('is read by one of them every four to five minutes, once it is known to all', async () => {
    const processes = [1, 2, 3, 4, 5].map((seed) => openProcess(seed));
    for (const one of processes) await one.use();
    expect(loads).toBe(5);
    for (let second = 0; second < 3_600; second += 5) {
      clock.advance(5_000);
      await Promise.all(processes.map((one) => one.use()));
    }
    // Alone, each would read it 12 to 15 times an hour.
    expect(loads - 5).toBeGreaterThanOrEqual(12);
    expect(loads - 5).toBeLessThanOrEqual(15);
  });

  it('is used by all of them as it is five minutes after a change at the latest, whenever that was', async () => {
    const processes = [1, 2, 3, 4, 5].map((seed) => openProcess(seed));
    for (const one of processes) await one.use();
    for (let change = 2; change <= 12; change += 1) {
      secret = { text: `${planted} ${change}`, versionId: `v${change}` };
      for (let second = 0; second < secretLifetimeMs / 1000 + 15; second += 5) {
        clock.advance(5_000);
        await Promise.all(processes.map((one) => one.use()));
      }
      for (const one of processes) expect(await one.use()).toBe(`${planted} ${change}`);
      clock.advance(change * 7_000);
    }
  });

  it('is read at once when it did not work, and others hear of the change when they look', async () => {
    const [one, other] = [openProcess(), openProcess()];
    await Promise.all([one.use(), other.use()]);
    clock.advance(250_000);
    await one.use();
    await other.use();
    secret = { text: `${planted} 2`, versionId: 'v2' };
    clock.advance(1_000);
    expect(await one.use(true)).toBe(`${planted} 2`);
    const before = loads;
    expect(await look(other)).toBe(`${planted} 2`);
    expect(loads).toBe(before + 1);
    expect(await look(other)).toBe(`${planted} 2`);
    expect(loads).toBe(before + 1);
  });

  it('is not read again by who knows a later version than was told', async () => {
    const one = openProcess();
    await one.use();
    clock.advance(secretLifetimeMs);
    await one.use();
    secret = { text: `${planted} 2`, versionId: 'v2' };
    clock.advance(1_000);
    const late = openProcess();
    await late.use();
    clock.advance(230_000);
    const before = loads;
    expect(await look(late)).toBe(`${planted} 2`);
    expect(loads).toBe(before + 1);
    expect(await look(late)).toBe(`${planted} 2`);
    expect(loads).toBe(before + 1);
  });

  it('that cannot be read is tried by one after the other, ten seconds apart', async () => {
    const processes = [1, 2, 3].map((seed) => openProcess(seed));
    for (const one of processes) await one.use();
    secret = undefined;
    clock.advance(secretLifetimeMs);
    const outcomes = await Promise.allSettled(processes.map((one) => one.use()));
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(loads).toBe(4);
    for (const one of processes) expect(one.reading?.text).toBe(`${planted} 1`);
  });

  it.each([
    ['the store is away', awayStore],
    ['there is no store', undefined],
  ])('is read by each when %s', async (_, store) => {
    const processes = [new Process(store), new Process(store)];
    for (const one of processes) await one.use();
    clock.advance(secretLifetimeMs);
    for (const one of processes) await one.use();
    expect(loads).toBe(4);
  });

  it('is read by each where its versions have no names', async () => {
    secret = { text: `${planted} 1` };
    const processes = [openProcess(), openProcess()];
    for (const one of processes) await one.use();
    secret = { text: `${planted} 2` };
    clock.advance(secretLifetimeMs);
    for (const one of processes) expect(await one.use()).toBe(`${planted} 2`);
  });

  it('stands in no table', async () => {
    const one = openProcess();
    await one.use();
    clock.advance(secretLifetimeMs);
    await one.use();
    const { tableName, openDocuments } = openTable(cacheTable);
    const { Items } = await openDocuments().send(
      new ScanCommand({ TableName: tableName, ConsistentRead: true }),
    );
    const text = JSON.stringify(Items);
    expect(text).toContain(reference.id);
    expect(text).not.toContain(planted);
  });
});

it('is another secret than that of the same name in another store', async () => {
  const { id } = reference;
  const one = openProcess();
  await one.use();
  await look(one);
  reference = { engine: 'ssm', id };
  secret = { text: planted, versionId: 'v9' };
  const other = openProcess(2);
  await other.use();
  await look(other);

  const { store } = openLookups(openTable(cacheTable), clock);
  expect(await store.find(['SECRET', '', id])).toMatchObject({ value: 'v1' });
  expect(await store.find(['SECRET', '', 'ssm', id])).toMatchObject({ value: 'v9' });
});
