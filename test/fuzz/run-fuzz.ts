import { randomBytes, randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { asJsonArray, asString, getPath, type JsonValue } from '#core/json.ts';
import { routes } from '#functions/routes.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { type ApiAnswer, type FuzzApi, openFuzzApi } from './fuzz-api.ts';
import { createHits, storedAccount } from './fuzz-hits.ts';
import { type FuzzFailure, type FuzzLog, parseFuzzLog } from './fuzz-log.ts';
import { createSlowOperations } from './operation-hits.ts';
import {
  createKeptManifests,
  createScratchManifests,
  type Hit,
  type Hits,
  type Playground,
  plantedSecret,
  retryableMark,
} from './playground.ts';
import { getLogFile, getSetupFile, runSchemathesis } from './schemathesis.ts';

const defaultCalls = 2_000;
/** Calls that one example for each route makes, roughly, in all phases: those without parameters make few. */
const callsPerExample = routes.length / 2;
const examplesMin = 5;
/** How long tasks may take to end once the calls are over, in milliseconds. */
const defaultSettleTimeoutMs = 120_000;
const setUpTimeoutMs = 60_000;
/** How often it is told how many calls were made, milliseconds. */
const progressIntervalMs = 15_000;
export interface RunFuzzOptions {
  /** The API, which may have a path. Its cluster must be one for tests: anything in it may be deleted. */
  readonly url: string;
  /** The program `schemathesis` or `st` of version 4. */
  readonly schemathesis: string;
  /** Least number of calls; default 2,000. */
  readonly calls?: number;
  /** The same seed makes the same requests, as far as the answers are the same. Default: a random one. */
  readonly seed?: number;
  /** Whether to run the phase that enumerates the schemas' edges, too, about 3,500 calls more. Default: true. */
  readonly coverage?: boolean;
  /** Further checks of schemathesis to leave out, such as `unsupported_method`: API Gateway answers 403 where this machine answers 405. */
  readonly excludedChecks?: readonly string[];
  /** Seconds that a refusal may take. Default: any time; functions that start cold take theirs. */
  readonly freezeSeconds?: number;
  /**
   * Share of calls that may be answered with 503 or 504, of 1; default 0. On a machine with much else to do functions do not get done in
   * the time that they have, and say so as the document tells.
   */
  readonly lateShare?: number;
  /** How long tasks may take to end after the last call, in milliseconds; default two minutes. */
  readonly settleTimeoutMs?: number;
  readonly log?: (line: string) => void;
}

export interface FuzzReport extends FuzzLog {
  readonly seed: number;
  /** Ids of tasks that were still open when the time to end was over. */
  readonly stuckTasks: readonly string[];
  /** What is wrong, for humans; empty after a clean run. */
  readonly problems: readonly string[];
}

/**
 * Lets schemathesis call an API as its OpenAPI document tells, with a share of requests that hit real things, and checks every
 * answer against the document. Afterwards all tasks must end and the API must be well.
 *
 * @throws Error when the API has no Kubernetes account in which a namespace can be made, or schemathesis cannot run
 */
export async function runFuzz(options: RunFuzzOptions): Promise<FuzzReport> {
  const {
    seed = randomInt(2 ** 31),
    settleTimeoutMs = defaultSettleTimeoutMs,
    lateShare = 0,
    log = () => undefined,
  } = options;
  const api = openFuzzApi(options.url);
  log(`fuzz: seed ${seed}`);
  await using dir = await makeTempDir();
  const playground = await makePlayground(api);
  log(`fuzz: plays in namespace ${playground.namespace} of account ${playground.account}`);
  const errors = await makeCalls(api, playground, { ...options, seed, dir: dir.path, log });
  const found = parseFuzzLog(await readLog(dir.path));
  log(`fuzz: ${found.calls} calls made; waiting until all tasks have ended`);
  const stuckTasks = await api.waitForTasks(settleTimeoutMs);
  const late = found.failures.filter(isLate).reduce((sum, { count }) => sum + count, 0);
  if (late > 0) log(`fuzz: ${late} calls were answered with 503 or 504`);
  const isLateAllowed = late <= found.calls * lateShare;
  const failures = found.failures.filter(
    (failure) => !(isLateAllowed && isLate(failure)) && !isOfUnservedAccount(failure),
  );
  const problems = [
    ...errors,
    ...failures.map(({ operation, check, count, curl, message, status, answer }) =>
      [`${operation}: ${check} (${count} times): ${message}`, `  ${curl}`, `  ${status} ${answer}`].join(
        '\n',
      ),
    ),
    ...(await findUnreached(api, found, createHits(playground))),
    ...stuckTasks.map((id) => `Task ${id} did not end within ${settleTimeoutMs} ms`),
    ...(await findSickness(api)),
  ];
  await removeNamespace(api, playground);
  return { ...found, seed, stuckTasks, problems };
}

/** What a caller is told who is to come again: it is no fault but of who runs the machine. */
function isLate({ check, status }: FuzzFailure): boolean {
  return check === 'ServerError' && (status === 503 || status === 504);
}

/** A live read of an account that the fuzzer made: nothing answers at its address, which is a 500, as in Clouddriver. */
function isOfUnservedAccount({ check, status, answer }: FuzzFailure): boolean {
  return check === 'ServerError' && status === 500 && answer.includes(`(account: ${storedAccount.name}`);
}

interface MakeCallsOptions extends RunFuzzOptions {
  readonly seed: number;
  /** Absolute; also holds set-up and log. */
  readonly dir: string;
  readonly log: (line: string) => void;
}

/** Runs schemathesis until there were calls enough. @returns what went wrong besides failed checks */
async function makeCalls(
  api: FuzzApi,
  playground: Playground,
  options: MakeCallsOptions,
): Promise<readonly string[]> {
  const { calls = defaultCalls, coverage = true, seed, dir, log } = options;
  const setup = {
    url: api.url,
    hits: createHits(playground),
    planted: Object.values(plantedSecret),
    retryable: retryableMark,
    slowOperations: createSlowOperations(playground),
    freezeSeconds: options.freezeSeconds,
  };
  await writeFile(getSetupFile(dir), JSON.stringify(setup));
  const errors: string[] = [];
  const examples = Math.max(examplesMin, Math.ceil(calls / callsPerExample));
  const run = async (phases: string, roundSeed: number): Promise<FuzzLog> => {
    log(`fuzz: schemathesis with seed ${roundSeed}, phases ${phases}`);
    const before = parseFuzzLog(await readLog(dir));
    const telling = setInterval(() => void tellProgress(dir, log), progressIntervalMs);
    const error = await runSchemathesis({
      ...options,
      url: api.url,
      phases,
      seed: roundSeed,
      examples,
    }).finally(() => clearInterval(telling));
    const found = parseFuzzLog(await readLog(dir));
    log(`fuzz: ${found.calls} calls, ${found.failures.length} kinds of failures so far`);
    if (error !== undefined && found.failures.length === before.failures.length) errors.push(error);
    if (found.calls === before.calls) errors.push(`schemathesis made no call in the phases ${phases}`);
    return found;
  };
  let found = await run('examples,fuzzing,stateful', seed);
  for (let round = 1; found.calls < calls && errors.length === 0; round++) {
    found = await run('fuzzing,stateful', seed + round);
  }
  if (coverage) await run('coverage', seed);
  return errors;
}

async function tellProgress(dir: string, log: (line: string) => void): Promise<void> {
  const text = await readLog(dir);
  // The last line may be half written.
  const { calls, failures } = parseFuzzLog(text.slice(0, text.lastIndexOf('\n') + 1));
  log(`fuzz: ${calls} calls, ${failures.length} kinds of failures so far`);
}

async function readLog(dir: string): Promise<string> {
  return readFile(getLogFile(dir), 'utf8').catch(() => '');
}

async function makePlayground(api: FuzzApi): Promise<Playground> {
  const { body } = await api.call('GET', '/credentials');
  const names = asJsonArray(body)
    .filter((account) => getPath(account, 'type') === 'kubernetes')
    .map((account) => asString(getPath(account, 'name')) ?? '');
  const namespace = `fuzz-${randomBytes(4).toString('hex')}`;
  const problems: string[] = [];
  for (const account of names) {
    const made = await deploy(api, account, [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    ]);
    if (!made.failed) return furnish(api, { account, names, namespace });
    problems.push(`${account}: ${made.text}`);
  }
  throw new Error(`No account of ${api.url} can make a namespace to play in. ${problems.join('; ')}`);
}

interface Target {
  readonly account: string;
  readonly names: readonly string[];
  readonly namespace: string;
}

async function furnish(api: FuzzApi, { account, names, namespace }: Target): Promise<Playground> {
  const good = await deploy(api, account, [
    ...createKeptManifests(namespace),
    ...createScratchManifests(namespace),
  ]);
  if (good.failed) throw new Error(`The objects to play with cannot be deployed: ${good.text}`);
  const bad = await deploy(api, account, [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'Not a name', namespace } },
  ]);
  const otherAccounts = names.filter((name) => name !== account);
  return { account, otherAccounts, namespace, taskIds: [good.id, bad.id].filter((id) => id !== '') };
}

interface Deployed {
  /** Empty when the deploy was refused. */
  readonly id: string;
  readonly failed: boolean;
  readonly text: string;
}

async function deploy(api: FuzzApi, account: string, manifests: readonly JsonValue[]): Promise<Deployed> {
  const description = { account, moniker: { app: 'fuzz' }, manifests: [...manifests] };
  const { status, body } = await api.call('POST', '/kubernetes/ops', [{ deployManifest: description }]);
  const id = asString(getPath(body, 'id'));
  if (status !== 200 || id === undefined) return { id: '', failed: true, text: JSON.stringify(body) };
  const task = await api.waitForTask(id, setUpTimeoutMs);
  return { id, failed: getPath(task, 'status', 'failed') === true, text: JSON.stringify(task) };
}

async function removeNamespace(api: FuzzApi, { account, namespace }: Playground): Promise<void> {
  const description = { account, manifestName: `namespace ${namespace}`, location: '' };
  const id = await api.startTask([{ deleteManifest: description }]);
  await api.waitForTask(id, setUpTimeoutMs);
}

/** Nothing is found there without Front50, an artifact store or accounts of Helm, of which the document tells nothing. */
const unreachable = [
  'GET /artifacts/account/{account}/names',
  'GET /artifacts/account/{account}/versions',
  'GET /projects/{project}/clusters',
  'GET /artifacts/content-address/{application}/{hash}',
];

/**
 * Routes that never succeeded, not even asked afterwards for exactly what is there, which a run of few calls may miss: a run that only ever
 * hears that nothing is there proves little.
 */
async function findUnreached(api: FuzzApi, { operations }: FuzzLog, hits: Hits): Promise<string[]> {
  const unreached = Object.entries(operations).filter(
    ([name, { statuses }]) => !Object.keys(statuses).some(isSuccess) && !unreachable.includes(name),
  );
  const found = unreached.map(async ([name, { calls, statuses }]): Promise<string[]> => {
    for (const hit of hits[name] ?? []) {
      if (isSuccess(String((await callHit(api, name, hit)).status))) return [];
    }
    return [`${name} never succeeded in ${calls} calls, but ${JSON.stringify(statuses)}`];
  });
  return (await Promise.all(found)).flat();
}

async function callHit(api: FuzzApi, route: string, { path = {}, query, body }: Hit): Promise<ApiAnswer> {
  const [method = '', template = ''] = route.split(' ');
  const target = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  return api.call(method, query === undefined ? target : `${target}?${new URLSearchParams(query)}`, body);
}

function isSuccess(status: string): boolean {
  return status.startsWith('2');
}

async function findSickness(api: FuzzApi): Promise<string[]> {
  const { status, body } = await api.call('GET', '/health');
  const isWell = status === 200 && getPath(body, 'status') === 'UP';
  return isWell ? [] : [`GET /health answered ${status} ${JSON.stringify(body)}`];
}
