import { asJsonObject } from '#core/json.ts';
import type { OperationWork } from '../steps/v2-operation.ts';
import {
  type DeployRequest,
  listPlanInputs,
  needsCluster,
  type PlanInputs,
  type PlannedManifest,
  planDeploy,
  type ResolvedInputs,
} from './plan.ts';
import { openInputResolver } from './resolve-inputs.ts';

/** The plan of a deploy. It changes if another client has taken a version's number. */
export interface DeployPlan {
  /** What to send, in order, as currently planned. */
  readonly planned: readonly PlannedManifest[];
  /** Adds the plan to the history. */
  report(): void;
  /**
   * Uses the versions that an earlier worker chose for the manifest at a place in the `attempt`-th attempt, from 0.
   *
   * @returns false if none did
   */
  recall(place: number, attempt: number): Promise<boolean>;
  /**
   * Chooses the versions of the manifest at a place, and of those after it, again, by the current state of the cluster, and remembers them.
   * Manifests after it are bound to the new versions.
   */
  chooseAgain(place: number, attempt: number): Promise<void>;
}

/** Versions by the places of their manifests. */
type VersionsByPlace = { readonly [place: string]: number };

/** Plans a deploy. Whatever a second run might decide differently is decided first, once. */
export async function openPlan(request: DeployRequest, work: OperationWork): Promise<DeployPlan> {
  const allInputs = listPlanInputs(request);
  let allResolved = allInputs.some(needsCluster) ? await decideOnce(request, allInputs, work) : [];
  const planNow = () => planDeploy(request, (_question, index) => allResolved[index] ?? {});
  let planned = await planNow();
  const goBy = async (versions: VersionsByPlace): Promise<void> => {
    const before = planned;
    allResolved = allResolved.map((resolved, place) => withVersion(resolved, versions[place]));
    planned = await planNow();
    reportChanges(before, planned, work);
  };
  return {
    get planned() {
      return planned;
    },
    report: () => reportPlan(planned, work),
    async recall(place, attempt) {
      const versions = work.run.recall(toKey(place, attempt));
      if (versions !== undefined) await goBy(asJsonObject(versions) as VersionsByPlace);
      return versions !== undefined;
    },
    async chooseAgain(place, attempt) {
      const choose = () => chooseVersions({ request, allInputs, allResolved, place }, work);
      await goBy(await work.run.decide(toKey(place, attempt), choose));
    },
  };
}

function toKey(place: number, attempt: number): string {
  return `versions/${place}/${attempt}`;
}

function withVersion(resolved: ResolvedInputs, version: number | undefined): ResolvedInputs {
  return version === undefined ? resolved : { ...resolved, version };
}

function decideOnce(
  request: DeployRequest,
  allInputs: readonly PlanInputs[],
  work: OperationWork,
): Promise<ResolvedInputs[]> {
  return work.run.decide('decisions', async () => {
    const decide = await openInputResolver(allInputs, work);
    const decided: ResolvedInputs[] = [];
    await planDeploy(request, (inputs, index) => {
      const resolved = decide(inputs, index);
      decided.push(resolved);
      return resolved;
    });
    return decided;
  });
}

/** The versions of the manifests from a place on, by the current state of the cluster. */
async function chooseVersions(
  deploy: {
    readonly request: DeployRequest;
    readonly allInputs: readonly PlanInputs[];
    readonly allResolved: readonly ResolvedInputs[];
    readonly place: number;
  },
  work: OperationWork,
): Promise<VersionsByPlace> {
  const { request, allResolved, place } = deploy;
  const isOpen = ({ versioned }: PlanInputs, index: number): boolean => versioned && index >= place;
  const decided = { useSourceCapacity: false, nameless: false, loadBalancers: [] };
  const allInputs = deploy.allInputs.map((each, index) => ({
    ...each,
    ...decided,
    versioned: isOpen(each, index),
  }));
  const decide = await openInputResolver(allInputs, work);
  const versions = new Map<string, number>();
  await planDeploy(request, (inputs, index) => {
    const version = isOpen(inputs, index) ? decide(inputs, index).version : undefined;
    if (version !== undefined) versions.set(String(index), version);
    return withVersion(allResolved[index] ?? {}, version);
  });
  return Object.fromEntries(versions);
}

function reportPlan(planned: readonly PlannedManifest[], { run }: OperationWork): void {
  for (const each of planned) {
    run.report(describeBound(each));
    run.report(`Annotated ${each.fullName} with its artifact and moniker`);
    for (const loadBalancer of each.attached) run.report(`Attached ${loadBalancer} to ${each.fullName}`);
  }
}

/** Reports the manifests whose bindings differ from those reported earlier. */
function reportChanges(
  before: readonly PlannedManifest[],
  planned: readonly PlannedManifest[],
  { run }: OperationWork,
): void {
  for (const [place, each] of planned.entries()) {
    const told = before[place];
    if (told === undefined || describeBound(told) !== describeBound(each)) run.report(describeBound(each));
  }
}

function describeBound({ fullName, bound }: PlannedManifest): string {
  const references = bound.map(({ type, reference }) => `${type} ${reference}`).join(', ');
  return `Bound artifacts in ${fullName}: ${references || 'none'}`;
}
