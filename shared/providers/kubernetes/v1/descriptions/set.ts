import type { z } from 'zod';
import {
  booleanField,
  enumField,
  intField,
  listOf,
  objectField,
  stringField,
  stringListField,
  withDefault,
} from '#settings/coerce.ts';
import { type AttributeRules, nameRule } from './attribute-rules.ts';
import { checkContainer, containerField, securityContextField, textMap } from './container.ts';
import { checkVolume, dnsPolicyField, volumeField } from './pod.ts';

const text = stringField;

/** Kinds of server groups that are named after their cluster, and may be changed in place. */
export const setKinds = ['StatefulSet', 'DaemonSet'] as const;

/** One of them. */
export type SetKind = (typeof setKinds)[number];

const podSpecField = objectField({
  activeDeadlineSeconds: intField({ max: Number.MAX_SAFE_INTEGER }),
  containers: withDefault(listOf(containerField), []),
  dnsPolicy: dnsPolicyField,
  hostIPC: booleanField(),
  hostNetwork: booleanField(),
  hostPID: booleanField(),
  hostname: text(),
  nodeName: text(),
  nodeSelector: textMap,
  restartPolicy: text(),
  securityContext: securityContextField,
  serviceAccountName: text(),
  subdomain: text(),
  terminationGracePeriodSeconds: intField({ max: Number.MAX_SAFE_INTEGER }),
  volumeSources: withDefault(listOf(volumeField), []),
});

const updateControllerField = objectField({
  enabled: withDefault(booleanField(), false),
  updateStrategy: objectField({
    type: enumField(['Recreate', 'RollingUpdate']),
    rollingUpdate: objectField({ partition: intField(), maxUnavailable: text() }),
  }),
  minReadySeconds: intField(),
  revisionHistoryLimit: intField(),
});

const volumeClaimField = objectField({
  claimName: text(),
  accessModes: withDefault(stringListField(), []),
  requirements: objectField({ limits: textMap, requests: textMap }),
  selector: objectField({
    matchExpressions: withDefault(
      listOf(objectField({ key: text(), operator: text(), values: withDefault(stringListField(), []) })),
      [],
    ),
    matchLabels: textMap,
  }),
  storageClassName: text(),
});

/** Fields that only descriptions of StatefulSets and DaemonSets have. */
export const setShape = {
  podSpec: podSpecField.describe(
    'What the pods of a StatefulSet or DaemonSet are, as far as the fields beside it say nothing of it.',
  ),
  podManagementPolicy: text().describe('`OrderedReady` or `Parallel`: of a StatefulSet.'),
  updateController: updateControllerField.describe(
    'How pods of a StatefulSet or DaemonSet are replaced; where `enabled`, one that is there is changed.',
  ),
  volumeClaims: withDefault(listOf(volumeClaimField), []).describe(
    'The volume that each pod of a StatefulSet claims.',
  ),
  volumeAnnotations: textMap.describe('Annotations of these claims.'),
};

type Output<F extends z.ZodType> = Exclude<z.output<F>, undefined>;

/** The parsed additional fields of a StatefulSet's or DaemonSet's pods. */
export type PodSpecDescription = Output<typeof podSpecField>;
/** How pods of a StatefulSet or DaemonSet are replaced. */
export type UpdateControllerDescription = Output<typeof updateControllerField>;
/** A volume that each pod of a StatefulSet claims. */
export type VolumeClaimDescription = Output<typeof volumeClaimField>;
/** The parsed fields that only StatefulSets and DaemonSets have. */
export type SetDescription = { readonly [key in keyof typeof setShape]: z.output<(typeof setShape)[key]> };

/** The kind, if a description asks for one of these; undefined for any other. */
export function findSetKind(kind: string | undefined): SetKind | undefined {
  return setKinds.find((each) => each === kind);
}

/** Reports what is wrong with the fields that only StatefulSets and DaemonSets have. */
export function checkSetParts(description: SetDescription, rules: AttributeRules): void {
  const { podSpec, podManagementPolicy, volumeClaims } = description;
  rules.checkOneOf(podManagementPolicy, 'podManagementPolicy', ['OrderedReady', 'Parallel']);
  rules.checkEach(volumeClaims, 'volumeClaims', ({ claimName }, at) =>
    rules.requireText(claimName, `${at}.claimName`, nameRule),
  );
  rules.checkEach(podSpec?.containers ?? [], 'podSpec.container', checkContainer);
  rules.checkEach(podSpec?.volumeSources ?? [], 'podSpec.volumeSources', checkVolume);
}
