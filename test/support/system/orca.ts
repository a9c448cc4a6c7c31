import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { asJsonArray, asJsonObject, asString, getPath, type JsonObject } from '#core/json.ts';
import type { Subject, SystemTask } from './system.ts';

/** How a stage ended, in Orca's words. */
export type StageStatus = 'SUCCEEDED' | 'TERMINAL';

/** A stage that was played. */
export interface StageRun {
  readonly type: string;
  readonly status: StageStatus;
  /** Why it is TERMINAL, as Deck shows it. */
  readonly message?: string;
  readonly context: JsonObject;
  /** What was promoted from its tasks: `manifests`, `manifestNamesByNamespace`, `boundArtifacts`, `createdArtifacts`. */
  readonly outputs: JsonObject;
  /** Orca's tasks of the stage as far as they came, in order; those that send nothing as well. */
  readonly tasks: readonly string[];
  /** Stages that the rollout strategy added behind it, in order. */
  readonly after: readonly StageRun[];
}

/** Who plays, and how patiently. */
export interface OrcaOptions {
  readonly subject: Pick<Subject, 'fetch'>;
  readonly application: string;
  /** Milliseconds between two rounds of polling; Orca itself takes 5,000. Default 100. */
  readonly pollIntervalMs?: number;
  /** How long a task of a stage may take, in milliseconds; Orca's own limits are half an hour and more. Default 30,000. */
  readonly timeoutMs?: number;
  /** The same for manifests to become stable (`stableManifestTimeoutMinutes`). Default `timeoutMs`. */
  readonly stableTimeoutMs?: number;
}

/** The part of Orca that talks to Clouddriver for Kubernetes, stage by stage. */
export interface Orca {
  /** Plays a stage with its tasks in Orca's order, and the stages that its rollout strategy adds. */
  run(type: string, context: JsonObject): Promise<StageRun>;
}

/** The rollout strategies by Deck's name. */
const strategies: { readonly [name: string]: string } = {
  none: 'NONE',
  redblack: 'RED_BLACK',
  bluegreen: 'BLUE_GREEN',
  highlander: 'HIGHLANDER',
};

const changeTarget = ['resolveTargetManifest', 'operation', 'monitorTask', 'waitForManifestStable'] as const;

/** The tasks of each type of stage, in Orca's order. `operation` is the task that posts the stage's own operation. */
const stageTasks: { readonly [type: string]: readonly (keyof typeof taskDefinitions)[] } = {
  deployManifest: [
    ...(['resolveDeploySourceManifest', 'deployManifest', 'monitorResult', 'promoteOutputs'] as const),
    ...(['waitForManifestStable', 'cleanupArtifacts', 'monitorTask', 'promoteOutputs'] as const),
    ...(['bindProducedArtifacts', 'addStrategyStages'] as const),
  ],
  deleteManifest: ['resolveTargetManifest', 'operation', 'monitorResult', 'promoteOutputs'],
  patchManifest: [
    ...(['resolveTargetManifest', 'resolvePatchSourceManifest', 'operation', 'monitorResult'] as const),
    ...(['promoteOutputs', 'waitForManifestStable', 'bindProducedArtifacts'] as const),
  ],
  scaleManifest: changeTarget,
  enableManifest: changeTarget,
  disableManifest: changeTarget,
  undoRolloutManifest: ['operation', 'monitorTask', 'waitForManifestStable'],
  resumeRolloutManifest: ['operation', 'monitorTask', 'waitForManifestStable'],
  pauseRolloutManifest: ['operation', 'monitorTask'],
  rollingRestartManifest: ['operation', 'monitorTask'],
  findArtifactsFromResource: ['resolveTargetManifest', 'getManifest', 'bindProducedArtifacts'],
};

/** Each task by its name. Those without an action send nothing. */
const taskDefinitions = {
  resolveDeploySourceManifest: undefined,
  resolvePatchSourceManifest: undefined,
  bindProducedArtifacts: undefined,
  resolveTargetManifest: (stage: PlayedStage) => stage.resolveTarget(),
  deployManifest: (stage: PlayedStage) => stage.deploy(),
  operation: (stage: PlayedStage) => stage.post(stage.type, stage.context),
  monitorTask: (stage: PlayedStage) => stage.monitor({ isResultExpected: false }),
  monitorResult: (stage: PlayedStage) => stage.monitor({ isResultExpected: true }),
  promoteOutputs: (stage: PlayedStage) => stage.promoteOutputs(),
  waitForManifestStable: (stage: PlayedStage) => stage.waitUntilStable(),
  cleanupArtifacts: (stage: PlayedStage) => stage.cleanUp(),
  getManifest: (stage: PlayedStage) => stage.findArtifacts(),
  addStrategyStages: (stage: PlayedStage) => stage.addStrategyStages(),
} as const;

/** Starts playing. Requests are those that Orca sends for the stages of the Kubernetes provider, with the fields it reads. */
export function createOrca(options: OrcaOptions): Orca {
  return { run: (type, context) => runStage(type, context, options) };
}

async function runStage(type: string, context: JsonObject, options: OrcaOptions): Promise<StageRun> {
  const names = stageTasks[type];
  if (names === undefined) throw new Error(`Orca has no stage ${type} for Kubernetes`);
  const stage = new PlayedStage(type, context, options);
  const tasks: string[] = [];
  const toRun = (status: StageStatus, message?: string): StageRun => {
    const { outputs, after } = stage;
    const end = { status, ...(message !== undefined && { message }) };
    return { type, ...end, context: stage.context, outputs, tasks, after };
  };
  for (const name of names) {
    tasks.push(name === 'operation' ? type : name.replace('monitorResult', 'monitorTask'));
    try {
      await taskDefinitions[name]?.(stage);
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error;
      return toRun('TERMINAL', error.message);
    }
  }
  return toRun('SUCCEEDED');
}

/** The stage ends here, with this message. */
class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

/** A number without a decimal point where Orca casts to Double. */
class ClassCastError extends Error {
  override readonly name = 'ClassCastError';
}

/** A live manifest, as far as Orca reads it. */
interface LiveManifest {
  readonly manifest: JsonObject;
  readonly artifacts: readonly JsonObject[];
  readonly status?: {
    readonly stable?: { readonly state: boolean };
    readonly failed?: { readonly state: boolean; readonly message?: string };
  };
}

/** A stage while it is played. */
class PlayedStage {
  readonly type: string;
  readonly context: JsonObject;
  readonly outputs: JsonObject = {};
  readonly after: StageRun[] = [];
  readonly #options: OrcaOptions;
  readonly #stageId = randomUUID();
  readonly #startedAtMs = Date.now();

  constructor(type: string, context: JsonObject, options: OrcaOptions) {
    this.type = type;
    this.context = { cloudProvider: 'kubernetes', user: 'orca@example.com', 'kato.tasks': [], ...context };
    this.#options = options;
  }

  /** Finds the name behind the criteria of a dynamic target. Nothing there fails the stage at once. */
  async resolveTarget(): Promise<void> {
    const { criteria, kind, cluster, location = '_' } = this.context;
    if (criteria !== undefined) {
      const members = `${this.#getManifestsPath(String(location))}/${kind}/cluster/${this.#options.application}`;
      const target = `${members}/${encodeURIComponent(String(cluster))}/dynamic/${criteria}`;
      const response = await this.#options.subject.fetch(target);
      if (!response.ok) throw new TerminalError(await response.text());
      const found = (await response.json()) as JsonObject;
      this.context['manifestName'] = `${found.kind} ${found.name}`;
    }
  }

  async deploy(): Promise<void> {
    const options = getPath(this.context, 'trafficManagement', 'options');
    const isManaged = getPath(this.context, 'trafficManagement', 'enabled') === true;
    await this.post('deployManifest', {
      ...this.context,
      source: 'text',
      ...(isManaged
        ? {
            services: getPath(options, 'services') ?? [],
            enableTraffic: getPath(options, 'enableTraffic') ?? false,
            strategy: this.#getStrategy(),
          }
        : { enableTraffic: true }),
    });
  }

  async cleanUp(): Promise<void> {
    const { account = null } = this.context;
    await this.post('cleanupArtifacts', { account, manifests: this.outputs['manifests'] ?? [] });
  }

  /** Posts an operation, as Orca does under an id that a repeat of the same would have again. */
  async post(operation: string, description: JsonObject): Promise<void> {
    const body = JSON.stringify([{ [operation]: description }]);
    const id = `${this.#stageId}-${this.#startedAtMs}-${body}`;
    const clientRequestId = createHash('sha256').update(id).digest('hex');
    const response = await this.#options.subject.fetch(`/kubernetes/ops?clientRequestId=${clientRequestId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const text = await response.text();
    if (!response.ok) throw new TerminalError(text);
    this.context['kato.last.task.id'] = { id: JSON.parse(text).id };
    this.#promoteTarget();
  }

  /** Polls the last task until it is completed and, where one is expected, has a result. */
  async monitor({ isResultExpected }: { isResultExpected: boolean }): Promise<void> {
    const id = getPath(this.context, 'kato.last.task.id', 'id');
    const task = await this.#poll(`task ${id}`, async () => {
      const response = await this.#options.subject.fetch(`/task/${id}`);
      const polled = (await response.json()) as SystemTask;
      const isDone = polled.status.completed && (!isResultExpected || polled.resultObjects.length > 0);
      return polled.status.failed || isDone ? polled : undefined;
    });
    const { status, history, resultObjects } = task as unknown as JsonObject;
    const earlier = asJsonArray(this.context['kato.tasks']);
    this.context['kato.tasks'] = [...earlier, { id: task.id, status, history, resultObjects } as JsonObject];
    if (!task.status.failed) return;
    const exception = task.resultObjects.find(({ type }) => type === 'EXCEPTION');
    throw new TerminalError(asString(exception?.['message']) ?? 'No reason');
  }

  /** The first value of each key that a task of this stage answered, oldest first; an empty one counts. */
  async promoteOutputs(): Promise<void> {
    const results = asJsonArray(this.context['kato.tasks']).flatMap((task) =>
      asJsonArray(getPath(task, 'resultObjects')),
    );
    for (const key of ['manifests', 'manifestNamesByNamespace', 'boundArtifacts', 'createdArtifacts']) {
      const first = results.map((result) => getPath(result, key)).find((value) => value !== undefined);
      if (first !== undefined) this.outputs[key] = first;
    }
  }

  /** Reads every manifest each round. A failed one ends the stage, but only once no other is still on its way. */
  async waitUntilStable(): Promise<void> {
    const { timeoutMs, stableTimeoutMs = timeoutMs } = this.#options;
    const look = async () => {
      const statuses: LiveManifest['status'][] = [];
      for (const [location, name] of this.#listDeployed()) {
        const live = await this.#readManifest(location, name);
        if (live === undefined) return undefined;
        statuses.push(live.status);
      }
      const failed = statuses.filter((status) => status?.failed?.state);
      const isOnItsWay = statuses.some((status) => !status?.failed?.state && !status?.stable?.state);
      return isOnItsWay ? undefined : failed.map((status) => status?.failed?.message ?? 'No reason');
    };
    const failures = await this.#poll('stable manifests', look, stableTimeoutMs);
    if (failures.length > 0) throw new TerminalError(failures.join('; '));
  }

  async findArtifacts(): Promise<void> {
    const { location = '_', manifestName } = this.context;
    const live = await this.#readManifest(String(location), String(manifestName));
    if (live === undefined) throw new TerminalError(`${manifestName} was not found`);
    this.outputs['manifest'] = live.manifest;
    this.outputs['artifacts'] = [...live.artifacts];
  }

  /** Retires the other members of each deployed ReplicaSet's cluster, as the strategy has it. */
  async addStrategyStages(): Promise<void> {
    const strategy = this.#getStrategy();
    if (strategy === 'NONE') return;
    for (const manifest of asJsonArray(this.outputs['manifests']).map(asJsonObject)) {
      if (asString(manifest?.['kind'])?.toLowerCase() !== 'replicaset') continue;
      const location = String(getPath(manifest, 'metadata', 'namespace'));
      const old = await this.#listOldMembers(manifest ?? {}, location);
      if (strategy === 'HIGHLANDER') {
        for (const name of old) await this.#runAfter('disableManifest', name, location);
        for (const name of old) await this.#runAfter('deleteManifest', name, location);
        continue;
      }
      const retired = await Promise.all(
        old.map(async (name) => ({ name, type: await this.#chooseRetirement(name, location) })),
      );
      for (const { name, type } of retired) await this.#runAfter(type, name, location);
    }
  }

  async #listOldMembers(manifest: JsonObject, location: string): Promise<string[]> {
    const cluster = getPath(manifest, 'metadata', 'annotations', 'moniker.spinnaker.io/cluster');
    const members = `replicaSet/cluster/${this.#options.application}/${encodeURIComponent(String(cluster))}`;
    const response = await this.#options.subject.fetch(`${this.#getManifestsPath(location)}/${members}`);
    const coordinates = (await response.json()) as JsonObject[];
    const current = `replicaSet ${getPath(manifest, 'metadata', 'name')}`;
    return coordinates.map(({ kind, name }) => `${kind} ${name}`).filter((name) => name !== current);
  }

  /** An old version that runs is disabled; one that never came up, and has not failed either, is deleted. */
  async #chooseRetirement(name: string, location: string): Promise<string> {
    const live = await this.#readManifest(location, name);
    if (live === undefined) throw new Error(`${name} was not found`);
    const counts = ['readyReplicas', 'availableReplicas'].map((key) =>
      Number(getPath(live.manifest, 'status', key) ?? 0),
    );
    if (counts.every((count) => count > 0)) return 'disableManifest';
    const { stable, failed } = live.status ?? {};
    return stable?.state || failed?.state ? 'disableManifest' : 'deleteManifest';
  }

  async #runAfter(type: string, manifestName: string, location: string): Promise<void> {
    const { account = null } = this.context;
    const app = this.#options.application;
    const run = await runStage(type, { account, app, manifestName, location }, this.#options);
    this.after.push(run);
    if (run.status === 'TERMINAL') throw new TerminalError(`${type} ${manifestName}: ${run.message}`);
  }

  /** A live manifest; undefined for any error, which Orca takes for a reason to wait. */
  async #readManifest(location: string, name: string): Promise<LiveManifest | undefined> {
    const base = this.#getManifestsPath(location);
    const response = await this.#options.subject.fetch(
      `${base}/${encodeURIComponent(name)}?includeEvents=false`,
    );
    const text = await response.text();
    return response.ok ? JSON.parse(text, checkCast) : undefined;
  }

  #getManifestsPath(location: string): string {
    return `/manifests/${this.context['account']}${location === '' ? '' : `/${location}`}`;
  }

  #listDeployed(): [location: string, name: string][] {
    const locations = Object.entries(asJsonObject(this.outputs['manifestNamesByNamespace']) ?? {});
    return locations.flatMap(([location, names]) =>
      asJsonArray(names).map((name): [string, string] => [location, String(name)]),
    );
  }

  /** Stages with one target name it themselves: their operations have no result. */
  #promoteTarget(): void {
    const { manifestName, location = '_' } = this.context;
    if (typeof manifestName !== 'string') return;
    this.outputs['manifestNamesByNamespace'] = { [String(location) || '_']: [manifestName] };
  }

  #getStrategy(): string {
    if (getPath(this.context, 'trafficManagement', 'enabled') !== true) return 'NONE';
    const name = getPath(this.context, 'trafficManagement', 'options', 'strategy');
    return strategies[asString(name) ?? 'none'] ?? 'NONE';
  }

  /** Looks until there is an answer. */
  async #poll<T>(
    what: string,
    look: () => Promise<T | undefined>,
    timeoutMs = this.#options.timeoutMs ?? 120_000,
  ): Promise<T> {
    const { pollIntervalMs = 100 } = this.#options;
    const endsAtMs = performance.now() + timeoutMs;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > endsAtMs) throw new TerminalError(`Timed out waiting for ${what}`);
      await sleep(pollIntervalMs);
    }
  }
}

/**
 * Refuses an integer literal where Orca casts to Double, which would end its stage with a ClassCastException. For use with
 * `JSON.parse`.
 *
 * @throws ClassCastError
 */
function checkCast(key: string, value: unknown, { source }: { source?: string } = {}): unknown {
  if (!/^(ready|available)Replicas$/.test(key) || source === undefined) return value;
  if (/[.eE]/.test(source)) return value;
  throw new ClassCastError(`${key} is written ${source}: Integer cannot be cast to Double`);
}
