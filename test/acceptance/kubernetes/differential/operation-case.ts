import { setTimeout as sleep } from 'node:timers/promises';
import { VisibleError } from '#core/errors.ts';
import { getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import type { Operation } from '#tasks/operation.ts';
import { runOperation } from '#test/shared/providers/kubernetes/operations/task-run.ts';
import { kubectl, requestApi } from '#test/support/cluster/cluster.ts';
import { readFixture } from '#test/support/run/fixture.ts';
import { intoNamespace, namePlaceholder, normalizeObject } from './pair.ts';

/** One thing done to an object by a command of kubectl, and to its twin by an operation of Busdriver. */
export interface OperationCase {
  readonly title: string;
  readonly object: Manifest;
  readonly target: string;
  readonly companion?: { readonly object: Manifest; readonly target: string };
  /** JSON merge patches made before, one after the other. Each change of a pod template is a revision. */
  readonly before?: readonly JsonObject[];
  /** Arguments of kubectl; the namespace is added. */
  readonly command: readonly string[];
  /** Name and description of the operation; account and location are added. */
  readonly operation: readonly [name: string, description: JsonObject];
  /** Both refuse it. Default: both do it. */
  readonly fails?: boolean;
}

export interface Aftermath {
  readonly failed: boolean;
  readonly problem?: string;
  readonly object: JsonValue;
}

type Target = Pick<OperationCase, 'object' | 'target'>;

/** The cases of `test/fixtures/`, each about an object of its own name. */
export function listCases(): OperationCase[] {
  const file = 'kubernetes/differential/operations.yaml';
  const { objects, cases } = readFixture<{
    readonly objects: { readonly [name: string]: Target };
    readonly cases: readonly (Omit<OperationCase, keyof Target | 'companion'> & {
      readonly object: string;
      readonly companion?: string;
    })[];
  }>(file);
  return cases.map(({ object, companion, ...rest }, index) => {
    const whole = { ...rest, ...objects[object], ...(companion && { companion: objects[companion] }) };
    const name = `case${String(index).padStart(3, '0')}`;
    return JSON.parse(JSON.stringify(whole).replaceAll(namePlaceholder, name));
  });
}

export async function runByKubectl(given: OperationCase, namespace: string): Promise<Aftermath> {
  const own = intoNamespace(given, namespace);
  return observe(own, namespace, async () => {
    try {
      await kubectl(['--namespace', namespace, ...own.command]);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    return undefined;
  });
}

export async function runByBusdriver(
  given: OperationCase,
  namespace: string,
  getOperation: (name: string) => Operation,
): Promise<Aftermath> {
  const own = intoNamespace(given, namespace);
  const [name, description] = own.operation;
  return observe(own, namespace, async () => {
    try {
      await runOperation(getOperation(name), { account: 'test', location: namespace, ...description });
    } catch (error) {
      if (error instanceof VisibleError) return error.message;
      throw error;
    }
    return undefined;
  });
}

/** @param act answers why it failed, or nothing */
async function observe(
  { object, target, companion, before = [] }: OperationCase,
  namespace: string,
  act: () => Promise<string | undefined>,
): Promise<Aftermath> {
  await create(object, target);
  if (companion !== undefined) await create(companion.object, companion.target);
  for (const body of before) {
    await settle(target);
    await requestApi('PATCH', `${target}?fieldManager=somebody`, body);
  }
  await settle(target);
  const problem = await act();
  const after = hideCircumstances(normalizeObject(await settle(target), namespace));
  return { failed: problem !== undefined, object: after, ...(problem !== undefined && { problem }) };
}

async function create(object: Manifest, target: string): Promise<void> {
  await requestApi('POST', target.slice(0, target.lastIndexOf('/')), object);
}

/** The object once its controller, if it has one, has seen it as it is. */
async function settle(target: string): Promise<Manifest> {
  for (;;) {
    const object = (await requestApi('GET', target)) as Manifest;
    const generation = getPath(object, 'metadata', 'generation');
    if (!target.includes('/apis/apps/') || getPath(object, 'status', 'observedGeneration') === generation) {
      return object;
    }
    await sleep(20);
  }
}

/** A restart carries its time, a noted command where its cluster was. */
function hideCircumstances(object: JsonValue): JsonValue {
  const text = JSON.stringify(object)
    .replace(/("kubectl\.kubernetes\.io\/restartedAt":)"[^"]+"/g, '$1"<time>"')
    .replace(/ --(kubeconfig|cache-dir)=\S+/g, '');
  return JSON.parse(text);
}
