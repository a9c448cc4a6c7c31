import { parseMoniker } from '#core/frigga.ts';
import { asJsonArray, asString, getPath, isJsonObject, type JsonObject } from '#core/json.ts';
import { annotationKeys, readTextAnnotation } from '../../manifest/annotations.ts';
import { readFullName, readGenerateName, readMoniker } from '../../manifest/identity.ts';

/**
 * The applications of an operation's objects, each once: the one that the description names, and those in annotations of its manifests,
 * which a deploy keeps. Where the description names none, the names of manifests without annotation, and of the target, say it.
 *
 * @param input the description as it was sent: Orca sends its whole stage, which may name an application that the operation does not read
 * @param description as parsed: lists of manifests are replaced by their items
 */
export function listApplications(input: JsonObject, description: object): readonly string[] {
  const named = findNamed(description) || findNamed(input);
  const manifests = listManifests(description).map((manifest) =>
    named ? readTextAnnotation(manifest, annotationKeys.application) : findApplication(manifest),
  );
  const targets = ['manifestName', 'serverGroupName'].map((field) => asString(getPath(description, field)));
  const ofNames = named ? [] : targets.map((name = '') => parseMoniker(name.split(' ').at(-1) ?? '').app);
  return [...new Set([named, ...manifests, ...ofNames].flatMap((application) => application || []))];
}

/** Full names of an operation's objects, as far as its description shows them: its manifests, or its target. */
export function listObjects(description: object): readonly string[] {
  const target = asString(getPath(description, 'manifestName'));
  return [...listManifests(description).map(readFullName), ...(target ? [target] : [])];
}

/** `app` is the application of the object that a stage of Deck's chooses. */
function findNamed(fields: object): string | undefined {
  const [moniker, application, app] = [['moniker', 'app'], ['application'], ['app']].map((path) =>
    asString(getPath(fields, ...path)),
  );
  return moniker || application || app;
}

/** `manifest` counts where `manifests` is empty. */
function listManifests(description: object): readonly JsonObject[] {
  const manifests = asJsonArray(getPath(description, 'manifests'));
  const given = manifests.length > 0 ? manifests : asJsonArray(getPath(description, 'manifest'));
  return given.filter(isJsonObject);
}

function findApplication(manifest: JsonObject): string | undefined {
  return readMoniker(manifest).app ?? parseMoniker(readGenerateName(manifest) ?? '').app;
}
