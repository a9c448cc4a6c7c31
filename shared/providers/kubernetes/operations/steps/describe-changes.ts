import { setImmediate } from 'node:timers/promises';
import { createTwoFilesPatch } from 'diff';
import { stringify } from 'yaml';
import { asJsonObject, getPath, isSameJson, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import { formatFullName } from '../../kinds/name.ts';
import { isSecret, maskSecrets, secretKeys, secretMask } from '../../manifest/sensitive.ts';
import type { Change } from './dry-run-client.ts';

/** What would be done with an object. */
export type Action = 'create' | 'change' | 'replace' | 'delete' | 'keep';

/** A change in words. */
export interface DescribedChange {
  readonly action: Action;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly untried?: string;
  /** The object's lines before and after, as `kubectl diff` shows them; empty where nothing would change. */
  readonly diff: string;
}

/** Characters of all diffs of an operation: further objects are counted. */
export const diffLengthMax = 256 << 10;

/** Milliseconds that the lines of an object are compared: beyond that the difference is not shown. */
const diffTimeoutMs = 50;

/** Members of metadata that each write changes. */
const passing = ['managedFields', 'resourceVersion', 'generation', 'uid', 'creationTimestamp', 'selfLink'];

/** Changes in words, as `kubectl diff` has them: https://kubernetes.io/docs/reference/kubectl/generated/kubectl_diff/ */
export async function describeChanges(changes: readonly Change[]): Promise<DescribedChange[]> {
  const described: DescribedChange[] = [];
  let left = diffLengthMax;
  for (const change of changes.filter(({ before, after }) => (before ?? after) !== undefined)) {
    const { kind, namespace, name, untried } = change;
    const action = findAction(change);
    // Once one did not fit, others are not compared: each takes the processor for a while.
    const whole = action === 'keep' || left === 0 ? '' : formatDiff(change);
    const isShown = whole.length <= left && (left > 0 || action === 'keep');
    left = isShown ? left - whole.length : 0;
    const diff = isShown ? whole : '(not shown: there are too many differences)\n';
    described.push({ action, kind, namespace, name, diff, ...(untried !== undefined && { untried }) });
    await setImmediate();
  }
  return described;
}

function findAction({ before, after }: Change): Action {
  if (before === undefined) return 'create';
  if (after === undefined) return 'delete';
  if (getPath(before, 'metadata', 'uid') !== getPath(after, 'metadata', 'uid')) return 'replace';
  return isSameJson(toShown(before), toShown(after)) ? 'keep' : 'change';
}

function formatDiff({ before, after, kind, namespace, name }: Change): string {
  const file = [kind, namespace, name].filter((part) => part !== '').join('/');
  const options = { context: 3, timeout: diffTimeoutMs };
  const left = toText(hideValues(before, { other: after, word: 'before' }));
  const right = toText(hideValues(after, { other: before, word: 'after' }));
  const patch = createTwoFilesPatch(`live/${file}`, `merged/${file}`, left, right, '', '', options);
  // An index and a line of equality signs come first, which kubectl does not print.
  return (
    patch?.replace(/^=+\n/, '') ?? `${formatFullName(kind, name)} changes in too many places to be shown\n`
  );
}

/** The object without the values of a Secret; one that is another in the other object is marked. */
function hideValues(
  object: Manifest | undefined,
  { other, word }: { readonly other: Manifest | undefined; readonly word: 'before' | 'after' },
): Manifest | undefined {
  if (object === undefined) return undefined;
  const masked = maskSecrets(object);
  if (!isSecret(object) || other === undefined) return masked;
  const marked = secretKeys.map((member): [string, JsonValue][] => {
    const [own, others] = [asJsonObject(object[member]), asJsonObject(other[member])];
    if (own === undefined) return [];
    const values = Object.keys(own).map((key) => {
      const isSame = others === undefined || !Object.hasOwn(others, key) || own[key] === others[key];
      return [key, isSame ? secretMask : `${secretMask} (${word})`] as const;
    });
    return [[member, Object.fromEntries(values)]];
  });
  return { ...masked, ...Object.fromEntries(marked.flat()) };
}

/** As YAML, with sorted keys: the API server keeps no order of them. */
function toText(object: Manifest | undefined): string {
  if (object === undefined) return '';
  // Kubernetes reads YAML 1.1, where yes is no text.
  const options = {
    version: '1.1',
    sortMapEntries: true,
    lineWidth: 0,
    aliasDuplicateObjects: false,
  } as const;
  return stringify(toShown(object), options);
}

/** The object without what each write changes. */
function toShown(object: Manifest): JsonObject {
  const metadata = Object.entries(asJsonObject(object.metadata) ?? {});
  const { status: _, ...rest } = object;
  return { ...rest, metadata: Object.fromEntries(metadata.filter(([key]) => !passing.includes(key))) };
}
