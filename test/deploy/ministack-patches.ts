import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** A defect of ministack that stands in the way, and what mends it. */
interface Patch {
  /** What goes wrong without it. */
  readonly reason: string;
  /** File below ministack's package. */
  readonly file: string;
  /** Text that must stand in the file exactly once. */
  readonly find: string;
  /** What stands there afterwards; it is how an earlier patch is recognised. */
  readonly replacement: string;
}

const provisioners = 'services/cloudformation/provisioners.py';

const patches: readonly Patch[] = [
  {
    reason:
      'what a nested stack leaves unchanged in an update loses its attributes, such as the ARN of a function',
    file: provisioners,
    find: 'old_tagged, new_tagged, child_name, child_logical_id,',
    replacement: 'old_tagged, new_tagged, child_name, child_logical_id, prev.get("Attributes"),',
  },
  {
    reason: 'what a nested stack changes in an update keeps only those attributes that the change answers',
    file: provisioners,
    find: '"LogicalResourceId": child_logical_id,\n            "Properties": resolved_props,\n            "Attributes": attrs,',
    replacement:
      '"LogicalResourceId": child_logical_id,\n            "Properties": resolved_props,\n' +
      '            "Attributes": {**((prev or {}).get("Attributes") or {}), **(attrs or {})},',
  },
];

/**
 * Mends the installed ministack where it has not been mended yet.
 *
 * @param folder that of its Python package
 * @throws Error when a file is not as expected: the pinned version has changed, and the patches must be looked at again
 */
export async function patchMinistack(folder: string): Promise<void> {
  for (const patch of patches) await applyPatch(path.join(folder, patch.file), patch);
}

async function applyPatch(file: string, { find, replacement, reason }: Patch): Promise<void> {
  const text = await readFile(file, 'utf8');
  if (text.includes(replacement)) return;
  const count = text.split(find).length - 1;
  if (count !== 1) {
    const problem = `is there ${count} times instead of once. Without the patch, ${reason}`;
    throw new Error(
      `${file} is not that of the ministack that test/deploy/ministack-patches.ts is for: ${JSON.stringify(find)} ${problem}.`,
    );
  }
  const part = `${file}.${randomUUID()}`;
  await writeFile(
    part,
    text.replace(find, () => replacement),
  );
  await rename(part, file);
}
