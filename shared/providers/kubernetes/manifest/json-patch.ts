import { createHash } from 'node:crypto';
import { isJsonObject, type JsonValue } from '#core/json.ts';
import { formatGoJson } from './go-json.ts';

/** One operation of a JSON patch (RFC 6902) that Spinnaker supports. */
export interface JsonPatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  /** A JSON pointer (RFC 6901): `/metadata/labels/app`. */
  readonly path: string;
  readonly value?: JsonValue | undefined;
}

/** The result of applying a JSON patch to a value. */
export interface JsonPatchOutcome {
  /** A copy with the operations applied, up to the first that does not fit. */
  readonly patched: JsonValue;
  /** Index of the first operation that does not fit; undefined when all do. */
  readonly misfit: number | undefined;
}

/** Applies operations in order; `root` itself is unchanged. */
export function applyJsonPatch(root: JsonValue, operations: readonly JsonPatchOperation[]): JsonPatchOutcome {
  const patched = structuredClone(root);
  // A later operation may change a value that an earlier one added: in the copy, not in the patch that is sent.
  const misfit = operations.findIndex((operation) => !applyOperation(patched, structuredClone(operation)));
  return { patched, misfit: misfit < 0 ? undefined : misfit };
}

/**
 * A fingerprint of the places in `root` that operations touch: the member that each names, or the whole list if it names an element, since
 * other elements move. It shows whether they changed, and reveals nothing of them.
 */
export function hashTouched(root: JsonValue, operations: readonly JsonPatchOperation[]): string {
  const touched = operations.map(({ path }) => {
    const { parent, key } = findPlace(root, path);
    if (Array.isArray(parent)) return parent;
    return (isJsonObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined) ?? null;
  });
  return createHash('sha256').update(formatGoJson(touched)).digest('base64url');
}

/** @returns false if it does not fit; `root` is then unchanged */
function applyOperation(root: JsonValue, { op, path, value = null }: JsonPatchOperation): boolean {
  const { parent, key } = findPlace(root, path);
  if (Array.isArray(parent)) return changeElement(parent, key, { op, value });
  if (!isJsonObject(parent) || (op !== 'add' && !Object.hasOwn(parent, key))) return false;
  if (op === 'remove') delete parent[key];
  else parent[key] = value;
  return true;
}

function changeElement(
  list: JsonValue[],
  key: string,
  { op, value }: { readonly op: JsonPatchOperation['op']; readonly value: JsonValue },
): boolean {
  const index = key === '-' && op === 'add' ? list.length : Number(/^\d+$/.test(key) ? key : Number.NaN);
  const end = op === 'add' ? list.length : list.length - 1;
  if (!(index <= end)) return false;
  list.splice(index, op === 'add' ? 0 : 1, ...(op === 'remove' ? [] : [value]));
  return true;
}

/** A pointer's last step, and the value that it starts from. The parent is undefined if an earlier step is missing. */
function findPlace(
  root: JsonValue,
  pointer: string,
): { readonly parent: JsonValue | undefined; readonly key: string } {
  const [, ...steps] = pointer.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const key = steps.pop();
  if (key === undefined) return { parent: undefined, key: '' };
  const parent = steps.reduce<JsonValue | undefined>(
    (value, step) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, step)
        ? (value as { [step: string]: JsonValue })[step]
        : undefined,
    root,
  );
  return { parent, key };
}
