import { asJsonObject } from '../../../../core/json.ts';
import type { OperationWork } from '../steps/operation-definition.ts';
import { openDecider } from './decisions.ts';
import {
  type Decision,
  type DeployRequest,
  isAsking,
  listQuestions,
  type PlannedManifest,
  planDeploy,
  type Question,
} from './plan.ts';

/** The plan of a deploy. It changes when the number of a version turns out to be somebody else's. */
export interface DeployPlan {
  /** What to send, in its order, as it is planned now. */
  readonly planned: readonly PlannedManifest[];
  /** Tells the history what is planned. */
  report(): void;
  /**
   * Goes by the versions that an earlier worker chose for the manifest at a place, for the `round`-th time, from 0.
   *
   * @returns false when none did
   */
  recall(place: number, round: number): Promise<boolean>;
  /**
   * Chooses the versions of the manifest at a place, and of those after it, anew, by what is in the cluster now, and remembers
   * them. Those after it are bound to the new ones.
   */
  chooseAgain(place: number, round: number): Promise<void>;
}

/** Versions by the places of their manifests. */
type VersionsByPlace = { readonly [place: string]: number };

/** Plans a deploy. What might come out otherwise the next time is decided first, once. */
export async function openPlan(request: DeployRequest, work: OperationWork): Promise<DeployPlan> {
  const questions = listQuestions(request);
  let decisions = questions.some(isAsking) ? await decideOnce(request, questions, work) : [];
  const planNow = () => planDeploy(request, (_question, index) => decisions[index] ?? {});
  let planned = await planNow();
  const goBy = async (versions: VersionsByPlace): Promise<void> => {
    const before = planned;
    decisions = decisions.map((decision, place) => withVersion(decision, versions[place]));
    planned = await planNow();
    reportChanges(before, planned, work);
  };
  return {
    get planned() {
      return planned;
    },
    report: () => reportPlan(planned, work),
    async recall(place, round) {
      const versions = work.run.recall(toKey(place, round));
      if (versions !== undefined) await goBy(asJsonObject(versions) as VersionsByPlace);
      return versions !== undefined;
    },
    async chooseAgain(place, round) {
      const choose = () => chooseVersions({ request, questions, decisions, place }, work);
      await goBy(await work.run.decide(toKey(place, round), choose));
    },
  };
}

function toKey(place: number, round: number): string {
  return `versions/${place}/${round}`;
}

function withVersion(decision: Decision, version: number | undefined): Decision {
  return version === undefined ? decision : { ...decision, version };
}

function decideOnce(
  request: DeployRequest,
  questions: readonly Question[],
  work: OperationWork,
): Promise<Decision[]> {
  return work.run.decide('decisions', async () => {
    const decide = await openDecider(questions, toDecisionOptions(work));
    const decided: Decision[] = [];
    await planDeploy(request, (question, index) => {
      const decision = decide(question, index);
      decided.push(decision);
      return decision;
    });
    return decided;
  });
}

/** The versions of the manifests from a place on, in view of what is in the cluster now. */
async function chooseVersions(
  deploy: {
    readonly request: DeployRequest;
    readonly questions: readonly Question[];
    readonly decisions: readonly Decision[];
    readonly place: number;
  },
  work: OperationWork,
): Promise<VersionsByPlace> {
  const { request, decisions, place } = deploy;
  const isOpen = ({ versioned }: Question, index: number): boolean => versioned && index >= place;
  const decided = { useSourceCapacity: false, nameless: false, loadBalancers: [] };
  const questions = deploy.questions.map((each, index) => ({
    ...each,
    ...decided,
    versioned: isOpen(each, index),
  }));
  const decide = await openDecider(questions, toDecisionOptions(work));
  const versions = new Map<string, number>();
  await planDeploy(request, (question, index) => {
    const version = isOpen(question, index) ? decide(question, index).version : undefined;
    if (version !== undefined) versions.set(String(index), version);
    return withVersion(decisions[index] ?? {}, version);
  });
  return Object.fromEntries(versions);
}

function toDecisionOptions({ client, session, run }: OperationWork): Parameters<typeof openDecider>[1] {
  return { client, randomness: session.randomness, signal: run.signal };
}

function reportPlan(planned: readonly PlannedManifest[], { run }: OperationWork): void {
  for (const each of planned) {
    run.report(describeBound(each));
    run.report(`Annotated ${each.fullName} with its artifact and moniker`);
    for (const loadBalancer of each.attached) run.report(`Attached ${loadBalancer} to ${each.fullName}`);
  }
}

/** Tells of the manifests that are bound otherwise than it was told before. */
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
