import type { V1DaemonSet, V1PersistentVolumeClaim, V1StatefulSet } from '@kubernetes/client-node';
import { asJsonObject, asString } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked, findNumber, readList, type Unchecked } from '../../api/unchecked.ts';
import { toTextMap } from '../../manifest/annotations.ts';
import type { Draft } from '../build/draft.ts';
import type {
  SetDescription,
  UpdateControllerDescription,
  VolumeClaimDescription,
} from '../descriptions/set.ts';
import { findAmount, listTexts } from './values.ts';

/** The fields that only a StatefulSet or a DaemonSet has. Those of its `podSpec` are read separately. */
export function readSet(controller: Manifest): Draft<Omit<SetDescription, 'podSpec'>> {
  const { spec } = asUnchecked<V1StatefulSet>(controller);
  const claims = readList(spec?.volumeClaimTemplates);
  return {
    podManagementPolicy: asString(spec?.podManagementPolicy),
    updateController: readUpdateController(controller),
    volumeClaims: claims.map(readClaim),
    volumeAnnotations: toTextMap(claims[0]?.metadata?.annotations),
  };
}

function readUpdateController(controller: Manifest): Draft<UpdateControllerDescription> {
  const { spec } = asUnchecked<V1StatefulSet>(controller);
  const { type, rollingUpdate } = spec?.updateStrategy ?? {};
  const unavailable =
    asUnchecked<V1DaemonSet>(controller).spec?.updateStrategy?.rollingUpdate?.maxUnavailable;
  return {
    enabled: false,
    updateStrategy: {
      type: type === 'OnDelete' ? 'Recreate' : 'RollingUpdate',
      rollingUpdate: rollingUpdate
        ? { partition: findNumber(rollingUpdate.partition), maxUnavailable: findAmount(unavailable) }
        : undefined,
    },
    minReadySeconds: findNumber(spec?.minReadySeconds),
    revisionHistoryLimit: findNumber(spec?.revisionHistoryLimit),
  };
}

function readClaim(claim: Unchecked<V1PersistentVolumeClaim>): Draft<VolumeClaimDescription> {
  const { accessModes, resources, selector, storageClassName } = claim?.spec ?? {};
  return {
    claimName: asString(claim?.metadata?.name),
    accessModes: listTexts(accessModes),
    requirements: asJsonObject(resources) && {
      limits: toTextMap(resources?.limits),
      requests: toTextMap(resources?.requests),
    },
    selector: asJsonObject(selector) && {
      matchExpressions: readList(selector?.matchExpressions).map((expression) => ({
        key: asString(expression?.key),
        operator: asString(expression?.operator),
        values: listTexts(expression?.values),
      })),
      matchLabels: toTextMap(selector?.matchLabels),
    },
    storageClassName: asString(storageClassName),
  };
}
