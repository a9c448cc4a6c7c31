import type { JsonObject, JsonValue } from '#core/json.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import { DynamoTaskStore } from '#tasks/aws/task-store.ts';
import { processTaskMessage } from '#tasks/process-message.ts';
import { acceptOperations } from '#tasks/requests/accept-operations.ts';
import { leaseDurationMs, type Task } from '#tasks/task.ts';
import { PlantedSecrets } from '#test/acceptance/access/planted-secrets.ts';
import { createTestClock, type TestClock } from '../run/test-clock.ts';
import { fullAccess } from '../system/request-access.ts';
import { getTaskView, messageOf, type TaskView } from '../system/task-runs.ts';
import type { TestTaskSystem } from '../system/task-system.ts';
import type { AnsweredCall, CloudCall, OperationCloud, OperationSpec, SpecInputs } from './operation-spec.ts';
import { createTextLog, type TextLog, toComparable } from './operation-texts.ts';
import { MortalWorker } from './operation-worker.ts';

/** An operation under test. */
export interface TestedOperation<Place, World> {
  /** Name in the request. */
  readonly name: string;
  readonly spec: OperationSpec<Place, World>;
  readonly cloud: OperationCloud<Place, World>;
  /** The engines, which all runs share. */
  readonly engines: TestTaskSystem;
}

/** How an operation is run. */
export interface RunOptions {
  /** The account of the context. */
  readonly account: string;
  /** When its worker dies, whom another one succeeds; see `MortalWorkerOptions`. Default: it does not. */
  readonly diesAfter?: number;
  /** What the cloud refuses, in words that quote it: writes of secrets, or all writes. Default: nothing. */
  readonly refused?: 'secrets' | 'writes';
}

/** A run that is over. */
export interface FinishedRun {
  /** The task as `GET /task/{id}` shows it. */
  readonly view: TaskView;
  /** What of that is the same whenever the same was done. */
  readonly outcome: Outcome;
  /** What `look` found. */
  readonly found: JsonValue;
  /** What it should find. */
  readonly expected: JsonValue;
  /** The calls of all its workers. */
  readonly calls: readonly AnsweredCall[];
  /** Those that left the place. */
  readonly strayCalls: readonly CloudCall[];
  /** What was done that must not be done again, sorted. */
  readonly once: JsonValue;
  /** Whether it wrote secrets to the cloud. */
  readonly writesSecrets: boolean;
  /** Commits and writes of the first worker. */
  readonly events: number;
  /** Names of the secrets that the specification planted. */
  readonly planted: readonly string[];
  /** Names of those, and of the account's, that the task, its events or the log tell. */
  readonly told: readonly string[];
}

/** What is compared of tasks. */
type Outcome = {
  readonly status: JsonObject;
  readonly history: { readonly phase: string; readonly status: string }[];
  readonly outputs: JsonObject[];
  readonly resultObjects: JsonValue[];
};

/** Runs an operation in a place of its own, from its acceptance to the end of its task. */
export async function runInPlace<Place, World>(
  tested: TestedOperation<Place, World>,
  options: RunOptions,
): Promise<FinishedRun> {
  const { cloud, spec, engines } = tested;
  await using place = await cloud.createPlace();
  const run = openRun(engines, place.name);
  await cloud.arrange(place, spec.world(run.inputs));
  const context = { ...spec.context(run.inputs), account: options.account };
  const planted = run.secrets.names;
  for (const [name, text] of cloud.credentials) run.secrets.add(name, text);
  const { task, workers } = await runWorkers(tested, run, { context, options });
  const calls = workers.flatMap((worker) => worker.calls);
  const view = await getTaskView(run.system, task);
  const { varies } = spec;
  const compare = <T extends JsonValue>(value: T): T =>
    toComparable(value, { place: place.name, ...(varies && { varies }) });
  return {
    view,
    outcome: compare(toOutcome(view, cloud)),
    found: compare(await spec.look(place)),
    expected: compare(spec.effect(run.inputs)),
    calls,
    strayCalls: calls.filter((call) => !cloud.isWithin(call, place.name)),
    once: compare(calls.flatMap(({ once }) => once ?? []).toSorted()),
    writesSecrets: run.writesSecrets,
    events: workers[0]?.events ?? 0,
    planted,
    told: await findTold(run, task),
  };
}

/** What the workers of one run have in common. */
interface Run {
  readonly inputs: SpecInputs;
  readonly secrets: PlantedSecrets;
  readonly clock: TestClock;
  readonly log: TextLog;
  readonly system: TestTaskSystem;
  /** Whether a write to the cloud held a secret so far. */
  writesSecrets: boolean;
}

/** Its clock is its own: when that is turned, no lease of another run ends. */
function openRun(engines: TestTaskSystem, place: string): Run {
  const secrets = new PlantedSecrets();
  const log = createTextLog();
  const clock = createTestClock();
  const { table, randomness } = engines;
  const store = new DynamoTaskStore({ table, clock, randomness });
  return {
    inputs: { place, plant: (name) => secrets.plant(name) },
    secrets,
    clock,
    log,
    system: { ...engines, store, clock, log: log.logger },
    writesSecrets: false,
  };
}

/** Accepts the context, and has it worked on: by another worker, once the lease has lapsed, when the first one dies. */
async function runWorkers<Place, World>(
  { name, cloud }: TestedOperation<Place, World>,
  run: Run,
  { context, options }: { readonly context: JsonObject; readonly options: RunOptions },
): Promise<{ readonly task: Task; readonly workers: readonly MortalWorker[] }> {
  const { refused, diesAfter } = options;
  const first = new MortalWorker(run.system, {
    ...(diesAfter !== undefined && { diesAfter }),
    refuse: (call, body) => refuse(run, { call, body, refused }),
  });
  const { place } = run.inputs;
  const log = run.log.logger;
  await using opened = await cloud.openWorker({ place, watch: first, log });
  const providers = new ProviderSet([opened.provider]);
  const task = await acceptOperations(first.system, providers, toRequest(cloud.provider, name, context));
  await Promise.race([first.death, work(first, providers, task)]);
  if (!first.isDead) return { task, workers: [first] };
  run.clock.advance(2 * leaseDurationMs);
  const second = new MortalWorker(run.system);
  await using reopened = await cloud.openWorker({ place, watch: second, log });
  await work(second, new ProviderSet([reopened.provider]), task);
  return { task, workers: [first, second] };
}

/** The request of one operation, from somebody who may do everything. */
export function toRequest(
  cloudProvider: string,
  name: string,
  context: JsonObject,
): Parameters<typeof acceptOperations>[2] {
  const body = [{ [name]: context }];
  const { rights } = fullAccess;
  return { body, cloudProvider, clientRequestId: '', caller: {}, rights, onDenied: async () => undefined };
}

/** Runs the task, and goes on with it as often as it is put down. */
async function work({ system }: MortalWorker, providers: ProviderSet, task: Task): Promise<void> {
  let lookSeconds: number | undefined;
  do {
    await system.clock.sleep((lookSeconds ?? 0) * 1_000);
    lookSeconds = undefined;
    await processTaskMessage(system, messageOf(task), {
      findOperation: (...asked) => providers.findOperation(...asked),
      onPutDown: (seconds) => {
        lookSeconds = seconds;
      },
      stop: new AbortController().signal,
    });
  } while (lookSeconds !== undefined);
}

/** What the cloud says to a call that it refuses; undefined for one that it takes. */
function refuse(
  run: Run,
  {
    call,
    body,
    refused,
  }: { readonly call: CloudCall; readonly body: unknown; readonly refused: RunOptions['refused'] },
): string | undefined {
  if (!call.isWrite) return undefined;
  const text = JSON.stringify(body) ?? '';
  const isSecret = run.secrets.findIn(text).length > 0;
  run.writesSecrets ||= isSecret;
  return refused === 'writes' || (refused === 'secrets' && isSecret) ? `cannot take ${text}` : undefined;
}

function toOutcome<Place, World>(
  { status, history, resultObjects, outputs }: TaskView,
  cloud: OperationCloud<Place, World>,
): Outcome {
  // Whether it had to be put down is a matter of how busy the machine is.
  const lines = history.filter((line) => !line.status.startsWith('Waiting for '));
  return {
    status,
    history: lines,
    outputs,
    resultObjects: resultObjects.map((each) => cloud.normalize(each)),
  };
}

async function findTold({ system, secrets, log }: Run, task: Task): Promise<string[]> {
  const shown = [await getTaskView(system, task), await system.store.find(task.id)];
  return secrets.findIn(JSON.stringify([shown, await system.listTaskEvents(task.id), log.lines]));
}
