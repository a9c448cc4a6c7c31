import { access } from 'node:fs/promises';
import path from 'node:path';

/** The package of a release that has the test control plane, compiled for this machine. */
export function toPackageName(): string {
  return `busdriver-cluster-${process.platform}-${process.arch}`;
}

/**
 * The test control plane of that package, where it is installed beside Busdriver's own.
 *
 * @param projectRoot Busdriver's own folder
 */
export async function findPackedCluster(
  projectRoot: string,
): Promise<{ readonly kubecluster: string; readonly kubectl: string } | undefined> {
  const folder = path.join(projectRoot, '..', toPackageName());
  const found = { kubecluster: path.join(folder, 'kubecluster'), kubectl: path.join(folder, 'kubectl') };
  try {
    await Promise.all([access(found.kubecluster), access(found.kubectl)]);
    return found;
  } catch {
    return undefined;
  }
}
