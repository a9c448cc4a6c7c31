import { FailedOperationError } from '#core/errors.ts';
import { asJsonArray, asJsonObject, asString, type JsonObject, type JsonValue } from '#core/json.ts';
import type { CatalogApplication, CatalogProject } from '#views/catalog.ts';
import type { ProjectClusterSpec } from '#views/views.ts';

/** Applications of Front50's answer. Those without a name are left out. @throws FailedOperationError if it is not a list. */
export function parseApplications(answer: JsonValue): readonly CatalogApplication[] {
  return listNamed(answer).map(({ name, entry }) => ({ name, attributes: entry }));
}

/** Projects of Front50's answer. Those without a name are left out. @throws FailedOperationError if it is not a list. */
export function parseProjects(answer: JsonValue): readonly CatalogProject[] {
  return listNamed(answer).map(({ name, entry }) => {
    const config = asJsonObject(entry.config) ?? {};
    return {
      id: asString(entry.id) ?? name,
      name,
      attributes: entry,
      applications: readTexts(config.applications),
      clusters: asJsonArray(config.clusters).flatMap(parseCluster),
    };
  });
}

/**
 * Ids of pipeline templates in Front50's answer, each once: it lists every version of a template. Templates without an id are left out.
 *
 * @throws FailedOperationError if it is not a list.
 */
export function parseTemplateIds(answer: JsonValue): readonly string[] {
  if (!Array.isArray(answer)) throw new FailedOperationError('its answer is no list');
  const ids = answer.map((value) => asString(asJsonObject(value)?.id) ?? '');
  return [...new Set(ids.filter((id) => id !== ''))];
}

function parseCluster(value: JsonValue): ProjectClusterSpec[] {
  const cluster = asJsonObject(value);
  const account = asString(cluster?.account);
  if (cluster === undefined || account === undefined) return [];
  return [
    {
      account,
      stack: asString(cluster.stack),
      detail: asString(cluster.detail),
      applications: readTexts(cluster.applications),
    },
  ];
}

function listNamed(answer: JsonValue): readonly { readonly name: string; readonly entry: JsonObject }[] {
  if (!Array.isArray(answer)) throw new FailedOperationError('its answer is no list');
  return answer.flatMap((value) => {
    const entry = asJsonObject(value);
    const name = asString(entry?.name)?.trim() ?? '';
    return entry === undefined || name === '' ? [] : [{ name, entry }];
  });
}

function readTexts(value: JsonValue | undefined): readonly string[] {
  return asJsonArray(value).filter((item) => typeof item === 'string');
}
