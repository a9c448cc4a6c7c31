import path from 'node:path';
import type { V1PolicyRule } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { readSmallFile } from '../small-file.ts';

/** What Busdriver may do in clusters: read, or also deploy. Each has an example of RBAC. */
export type ClusterRight = 'read' | 'deploy';

/** Something that Busdriver does in clusters, as the examples of RBAC grant it. */
export interface NeededAccess {
  readonly group: string;
  /** With its subresource: `pods/log`. */
  readonly resource: string;
  readonly verbs: readonly string[];
}

/** The rules of the ClusterRole in an example of RBAC. */
export async function readRules(right: ClusterRight): Promise<readonly V1PolicyRule[]> {
  const file = path.join(import.meta.dirname, `../../docs/examples/rbac-${right}.yaml`);
  return parseAllDocuments((await readSmallFile(file)).toString('utf8'))
    .map((document) => document.toJS())
    .filter((object) => object?.kind === 'ClusterRole')
    .flatMap(({ rules }) => rules);
}

/** What these rules grant, each resource by itself. */
export async function readNeededAccess(right: ClusterRight): Promise<readonly NeededAccess[]> {
  return (await readRules(right)).flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) => resources.map((resource) => ({ group, resource, verbs }))),
  );
}
