import { InvalidInputError } from './errors.ts';
import { asJsonArray, asJsonObject, asString, type JsonObject } from './json.ts';
import { artifactsMax, manifestsMax } from './request-limits.ts';

/** Checks first how much the descriptions of a request hold. @throws InvalidInputError with the actual and the accepted number */
export function checkRequestSize(descriptions: readonly JsonObject[]): void {
  checkCount('manifests', sum(descriptions, countManifests), manifestsMax);
  checkCount('required and optional artifacts', sum(descriptions, countArtifacts), artifactsMax);
}

function checkCount(what: string, count: number, max: number): void {
  if (count <= max) return;
  throw new InvalidInputError(
    `The request holds ${count} ${what}: at most ${max} are accepted in one request; send less at once, ` +
      'such as a part of them in a stage of its own',
  );
}

function sum(descriptions: readonly JsonObject[], count: (description: JsonObject) => number): number {
  return descriptions.reduce((total, description) => total + count(description), 0);
}

/** Entries of `manifests`, and `manifest`: each `List` counts as its items. */
function countManifests({ manifest, manifests }: JsonObject): number {
  return [manifest, ...asJsonArray(manifests)].reduce<number>((total, entry) => {
    const object = asJsonObject(entry);
    const isList = asString(object?.['kind'])?.toLowerCase() === 'list';
    const count = isList ? asJsonArray(object?.['items']).length : 1;
    return entry === undefined || entry === null ? total : total + count;
  }, 0);
}

function countArtifacts({ requiredArtifacts, optionalArtifacts, artifacts }: JsonObject): number {
  const lists = [requiredArtifacts, optionalArtifacts, artifacts];
  return lists.reduce<number>((total, list) => total + asJsonArray(list).length, 0);
}
