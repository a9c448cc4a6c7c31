import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { builtInKinds, createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { readFullName, readKind } from '#providers/kubernetes/manifest/identity.ts';
import { sortForDeploy } from '#providers/kubernetes/manifest/order.ts';

const registry = createKindRegistry([{ kubernetesKind: 'Early.example.com', deployPriority: 10 }]);

/** A manifest of a kind. */
function make(kind: string, name = 'a', apiVersion = 'v1'): Manifest {
  return { apiVersion, kind, metadata: { name } };
}

test('what others need is deployed first', () => {
  const manifests = [
    make('ValidatingWebhookConfiguration'),
    make('Lease', 'a', 'coordination.k8s.io/v1'),
    make('HorizontalPodAutoscaler'),
    make('Deployment', 'b'),
    make('PodDisruptionBudget'),
    make('APIService'),
    make('Service'),
    make('Secret'),
    make('ServiceAccount'),
    make('RoleBinding'),
    make('Role'),
    make('Early', 'a', 'example.com/v1'),
    make('Namespace'),
  ];
  expect(sortForDeploy(manifests, registry)).toEqual(manifests.toReversed());
});

test('what has the same priority keeps its order', () => {
  const manifests = [
    make('Job', 'z'),
    make('Deployment', 'y'),
    make('ConfigMap', 'b'),
    make('Secret', 'a'),
    make('Pod', 'x'),
  ];
  expect(sortForDeploy(manifests, registry).map(readFullName)).toEqual([
    ...['configMap b', 'secret a', 'job z', 'deployment y', 'pod x'],
  ]);
});

test('every manifest of kinds that only Kubernetes makes is refused by name', () => {
  const manifests = [make('Event', 'e'), make('Pod'), make('ControllerRevision', 'c')];
  expect(() => sortForDeploy(manifests, registry)).toThrow(InvalidInputError);
  expect(() => sortForDeploy(manifests, registry)).toThrow(
    /event e cannot be deployed.*controllerRevision c cannot/,
  );
});

test('the order is total and stable, and loses nothing', () => {
  const kinds = builtInKinds
    .filter(({ deployable }) => deployable)
    .map(({ kubernetesKind }) => kubernetesKind);
  const manifest = fc
    .tuple(fc.constantFrom(...kinds, 'PriorityClass', 'Endpoints'), fc.nat())
    .map(([kind, number]) => make(kind, String(number)));
  const priority = (one: Manifest) => registry.find(readKind(one)).deployPriority;
  fc.assert(
    fc.property(fc.array(manifest), (manifests) => {
      const before = [...manifests];
      const sorted = sortForDeploy(manifests, registry);
      expect(manifests).toEqual(before);
      expect(new Set(sorted)).toEqual(new Set(manifests));
      for (const [index, next] of sorted.slice(1).entries()) {
        const previous = sorted[index] as Manifest;
        expect(priority(previous)).toBeLessThanOrEqual(priority(next));
        if (priority(previous) === priority(next)) {
          expect(manifests.indexOf(previous)).toBeLessThan(manifests.indexOf(next));
        }
      }
      expect(sortForDeploy(sorted, registry)).toEqual(sorted);
    }),
  );
});
