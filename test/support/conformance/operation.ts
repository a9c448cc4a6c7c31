import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orchestrationPhase } from '#tasks/task.ts';
import { startTaskSystem, type TestTaskSystem } from '../system/task-system.ts';
import { expectRefusals } from './operation-refusals.ts';
import { type FinishedRun, runInPlace, type TestedOperation } from './operation-run.ts';
import type { AnsweredCall, OperationCloud, OperationSpec } from './operation-spec.ts';
import { specAccounts } from './operation-spec.ts';

/** So many runs of one operation in which a worker dies are under way at a time: most of their time they wait. */
const deathsAtATime = 3;

/** Milliseconds for a test, which may be of twenty runs: a hang is to be caught, not a machine that is busy. */
const timeoutMs = 300_000;

/** Where operations are tested: a cloud, and engines that all of them share. */
export interface OperationEnvironment<Place, World> {
  readonly cloud: OperationCloud<Place, World>;
  /** The engines. They run while tests do, not while tests are defined. */
  getEngines(): TestTaskSystem;
}

/** Starts the engines before the tests of the enclosing `describe`, and ends them afterwards. */
export function setUpEnvironment<Place, World>(
  cloud: OperationCloud<Place, World>,
): OperationEnvironment<Place, World> {
  let engines: TestTaskSystem | undefined;
  beforeAll(async () => {
    engines = await startTaskSystem();
  });
  afterAll(() => engines?.[Symbol.asyncDispose]());
  return {
    cloud,
    getEngines() {
      if (engines === undefined) throw new Error('the engines run while tests do');
      return engines;
    },
  };
}

/**
 * Defines the tests that every operation must pass, on the real store, queue and bus of tasks and the cloud of its provider:
 *
 * - each invalid context is refused with the one error that Orca shows, and nothing is done;
 * - a worker dies before and after each commit of the journal and each write to the cloud, and another one goes on: the effect
 *   is there once, and the task looks as if nobody had died;
 * - a run makes the calls that the specification allows, and no other;
 * - secrets, the specification's and the account's, are in no task, event, log or error, not even where the cloud refuses a
 *   write in words that quote it;
 * - an account that may use one place works there, makes no call beyond, and is refused elsewhere.
 *
 * The tests of all operations run side by side.
 */
export function testOperation<Place, World>(
  name: string,
  spec: OperationSpec<Place, World>,
  { cloud, getEngines }: OperationEnvironment<Place, World>,
): void {
  describe.concurrent(name, { timeout: timeoutMs }, () => {
    const getTested = (): TestedOperation<Place, World> => ({ name, spec, cloud, engines: getEngines() });
    let clean: Promise<FinishedRun> | undefined;
    const getClean = (): Promise<FinishedRun> => {
      clean ??= runInPlace(getTested(), { account: specAccounts.everywhere });
      return clean;
    };

    test('refuses invalid contexts, and does nothing', () => expectRefusals(getTested()));

    test('has its effect, by the calls that it may make', async () => {
      const run = await getClean();
      expectEffect(run);
      expect(listHistory(run)).toEqual(spec.history);
      expect(run.outcome.resultObjects).toMatchObject(spec.result === undefined ? [] : [spec.result]);
      expect(countMethods(run, spec)).toEqual(spec.calls);
    });

    test('has its effect once, whenever a worker dies', async () => {
      const run = await getClean();
      const points = Array.from({ length: run.events + 1 }, (_, event) => event);
      await forEach(points, async (diesAfter) => {
        const resumed = await runInPlace(getTested(), { account: specAccounts.everywhere, diesAfter });
        expectSame(resumed, run, `a worker died after ${diesAfter} of ${run.events} commits and writes`);
      });
    });

    test('tells no secrets', async () => {
      const run = await getClean();
      expect(run.planted.toSorted(), 'secrets that were planted').toEqual(spec.secrets.toSorted());
      expect(run.told, 'secrets that are told').toEqual([]);
      const refused = await runInPlace(getTested(), {
        account: specAccounts.everywhere,
        refused: run.writesSecrets ? 'secrets' : 'writes',
      });
      expect(refused.view.status, 'the task whose write was refused').toMatchObject({ failed: true });
      expect(refused.told, 'secrets that are told when a write was refused').toEqual([]);
    });

    test('keeps within the bounds of its account', async () => {
      const run = await runInPlace(getTested(), { account: specAccounts.within });
      expectSame(run, await getClean(), 'the account may use one place');
      expect(run.strayCalls, 'calls beyond the place').toEqual([]);
    });
  });
}

function expectEffect({ view, found, expected }: FinishedRun, when = 'nobody died'): void {
  const failure = view.resultObjects.find(({ type }) => type === 'EXCEPTION');
  expect(failure, `the failure when ${when}`).toBeUndefined();
  expect(found, `the effect when ${when}`).toEqual(expected);
}

function expectSame(run: FinishedRun, clean: FinishedRun, when: string): void {
  expectEffect(run, when);
  expect(run.once, `what was done when ${when}`).toEqual(clean.once);
  expect(run.outcome, `the task when ${when}`).toEqual(clean.outcome);
  expect(run.told, `secrets that are told when ${when}`).toEqual([]);
}

/** What the operation itself told. */
function listHistory({ outcome }: FinishedRun): string[] {
  return outcome.history.filter(({ phase }) => phase !== orchestrationPhase).map(({ status }) => status);
}

function countMethods(
  { calls }: FinishedRun,
  { waitsForWrites }: Pick<OperationSpec<never, never>, 'waitsForWrites'>,
): { [method: string]: number } {
  const settled = omitConflicts(calls);
  const counted = waitsForWrites ? omitRepeatedLooks(settled) : settled;
  const groups = Map.groupBy(counted, ({ method }) => method);
  return Object.fromEntries([...groups].map(([method, members]) => [method, members.length]));
}

/** A controller may change an object between its read and its PUT: neither the one that is refused counts, nor the read for the next. */
function omitConflicts(calls: readonly AnsweredCall[]): AnsweredCall[] {
  const isRefused = (call: AnsweredCall | undefined): boolean => call?.method === 'PUT' && !call.isDone;
  return calls.filter((call, index) => {
    const before = calls.slice(0, index).findLast(({ path }) => path === call.path);
    return !isRefused(call) && (call.isWrite || !isRefused(before));
  });
}

/** Of the looks at what was written the first one is left. */
function omitRepeatedLooks(calls: readonly AnsweredCall[]): AnsweredCall[] {
  return calls.filter(({ path, isWrite }, index) => {
    const earlier = calls.slice(0, index).filter((call) => call.path === path);
    const lastWrite = earlier.findLastIndex((call) => call.isWrite);
    return isWrite || lastWrite < 0 || lastWrite === earlier.length - 1;
  });
}

/** Does the work for each, some at a time, and throws what went wrong first. */
async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const takeTurns = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  const turns = await Promise.allSettled(Array.from({ length: deathsAtATime }, takeTurns));
  for (const turn of turns) if (turn.status === 'rejected') throw turn.reason;
}
