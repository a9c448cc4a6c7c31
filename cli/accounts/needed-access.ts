import { parseAllDocuments } from 'yaml';
import { asJsonArray, asJsonObject, getPath, type JsonObject } from '#core/json.ts';
import { readSmallFile } from '../small-file.ts';

/** Something that Busdriver does in clusters, as the examples of RBAC grant it. */
export interface NeededAccess {
  /** `read` or `deploy`. */
  readonly role: string;
  readonly group: string;
  /** With its subresource: `pods/log`. */
  readonly resource: string;
  readonly verbs: readonly string[];
}

/** The rules of a ClusterRole in a file of examples. @param role how they are called */
export async function readNeededAccess(file: string, role: string): Promise<readonly NeededAccess[]> {
  const documents = parseAllDocuments((await readSmallFile(file)).toString('utf8'));
  const objects = documents.flatMap((document): JsonObject[] => {
    const object = asJsonObject(document.toJS());
    return object?.['kind'] === 'ClusterRole' ? [object] : [];
  });
  const toTexts = (value: unknown) => asJsonArray(value).map(String);
  return objects
    .flatMap((object) => asJsonArray(object['rules']))
    .flatMap((rule) =>
      toTexts(getPath(rule, 'apiGroups')).flatMap((group) =>
        toTexts(getPath(rule, 'resources')).map((resource) => ({
          role,
          group,
          resource,
          verbs: toTexts(getPath(rule, 'verbs')),
        })),
      ),
    );
}
