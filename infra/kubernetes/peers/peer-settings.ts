import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { enumField, type Field, parseWith, stringField, withDefault } from '#settings/coerce.ts';
import { getSetting } from '#settings/spring-config.ts';
import type { PeerSettings } from './peers.ts';

/** Where Spinnaker's configuration says how replicas find each other; the names are those of Armory's plug-in. */
export const peerSettingPaths = {
  cluster: 'kubesvc.cluster',
  namePrefix: 'kubesvc.cluster-kubernetes.clouddriverServiceNamePrefix',
  portName: 'kubesvc.cluster-kubernetes.httpPortName',
  api: 'kubesvc.cluster-kubernetes.api',
} as const;

/** What names of Services of Busdriver begin with unless the settings say otherwise. */
export const defaultNamePrefix = 'spin-clouddriver';

/**
 * How replicas find each other; undefined where `kubesvc.cluster` is `local`: each is alone then.
 *
 * @throws InvalidInputError that names the setting and what it takes
 */
export function parsePeerSettings(settings: JsonObject): PeerSettings | undefined {
  const read = <T>(path: string, field: Field<T>): T => parseWith(field, getSetting(settings, path), path);
  const cluster = read(
    peerSettingPaths.cluster,
    withDefault(enumField(['kubernetes', 'local']), 'kubernetes'),
  );
  if (cluster === 'local') return undefined;
  const readName = (path: string, lengthMax: number, otherwise: string): string => {
    const name = read(path, withDefault(stringField(), otherwise));
    if (/^[a-z0-9][a-z0-9.-]*$/.test(name) && name.length <= lengthMax) return name;
    throw new InvalidInputError(
      `${path}: expected at most ${lengthMax} lower-case letters, digits, dots and dashes`,
    );
  };
  return {
    namePrefix: readName(peerSettingPaths.namePrefix, 253, defaultNamePrefix),
    portName: readName(peerSettingPaths.portName, 63, 'http'),
    api: read(peerSettingPaths.api, withDefault(enumField(['auto', 'endpoints', 'endpointslices']), 'auto')),
  };
}
