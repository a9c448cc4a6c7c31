import { FailedOperationError } from '#core/errors.ts';
import { formatClusterName } from '#core/frigga.ts';
import { listPullSecrets } from '../../account/v1-rules.ts';
import type { Manifest } from '../../api/manifest.ts';
import { explainFailure } from '../../operations/steps/failure.ts';
import { buildJob } from '../build/job.ts';
import type { JobDescription } from '../descriptions/job.ts';
import { chooseNamespace } from './namespace.ts';
import type { V1Work } from './v1-operation.ts';
import { createAnnotations, createOnce } from './write-object.ts';

/** Hexadecimal digits that distinguish jobs of one name. */
const digits = 12;
/** How many numbers have that many digits. */
const numbers = 0x1_0000_0000_0000;

/** What Orca reads of a started job: it watches the pod. */
interface JobResult {
  readonly deployedNames: readonly string[];
  readonly deployedNamesByLocation: { readonly [namespace: string]: readonly string[] };
}

/**
 * Starts a job, which is a pod. It does not wait for its end; Orca does.
 *
 * @param complete adds what the description omits. Default: adds nothing.
 * @throws FailedOperationError in Spinnaker's words, or with those of the API server.
 */
export async function runPod(
  description: JobDescription,
  work: V1Work,
  complete: (pod: Manifest) => Promise<Manifest> = async (pod) => pod,
): Promise<JobResult> {
  const { run, account, session } = work;
  run.report('Initializing creation of job...');
  const namespace = chooseNamespace([description.namespace], work);
  const { application = '', stack, freeFormDetails: detail } = description;
  const cluster = formatClusterName({ application, stack, detail });
  const { name, creation } = await run.decide('name', async () => ({
    name: `${cluster}-${createDigits(session.randomness.fraction())}`,
    creation: session.randomness.id(),
  }));
  run.report(`JobStatus name chosen to be ${name}.`);
  run.report('Sending pod spec to the Kubernetes master.');
  const built = buildJob({
    name,
    namespace,
    description,
    annotations: createAnnotations(creation),
    pullSecrets: listPullSecrets(account.v1, namespace),
    defaultRegistry: session.settings.defaultRegistry,
  });
  const outcome = await run.step('create', () =>
    explainFailure(`Creating job ${name} in namespace ${namespace}`, async () =>
      createOnce({ kind: 'Pod', namespace, manifest: await complete(built) }, work),
    ),
  );
  if (outcome === 'taken')
    throw new FailedOperationError(`Job ${name} exists already in namespace ${namespace}`);
  run.report(`Finished creating job ${name}.`);
  return { deployedNames: [name], deployedNamesByLocation: { [namespace]: [name] } };
}

/** @param fraction from 0, and below 1 */
function createDigits(fraction: number): string {
  return Math.floor(fraction * numbers)
    .toString(16)
    .padStart(digits, '0');
}
