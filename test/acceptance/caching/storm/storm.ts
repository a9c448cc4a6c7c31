import { kubectl } from '#test/support/cluster/cluster.ts';
import { createRandom, type Random } from '#test/support/run/seeded-random.ts';

export interface StormOptions {
  readonly namespaces: readonly string[];
  readonly changes: number;
  /** Whether it may end once it has made them. Default: yes. */
  readonly mayEnd?: () => boolean;
}

export interface Storm {
  /** Resolves when it is over, with how much it changed. */
  readonly ended: Promise<{ readonly made: number; readonly seed: number }>;
}

const batchSize = 20;
/** Names of each kind in each namespace: few, so that they are made, changed, deleted and made again. */
const names = 25;
const applications = ['alpha', 'beta', 'gamma-eu'];
const callsAtATime = 2;

/** Begins a storm: creates, updates and deletes of many kinds by kubectl, from a seed that is printed. */
export function rageStorm(options: StormOptions): Storm {
  const seed = Math.floor(Math.random() * 2 ** 31);
  process.stdout.write(`storm: seed ${seed}\n`);
  return { ended: run(options, seed) };
}

async function run(
  { namespaces, changes, mayEnd = () => true }: StormOptions,
  seed: number,
): Promise<{ made: number; seed: number }> {
  const random = createRandom(seed);
  let made = 0;
  const blow = async (namespace: string): Promise<void> => {
    while (made < changes || !mayEnd()) {
      const deletes = random() < 0.25;
      const objects = toDistinct(Array.from({ length: batchSize }, () => toObject(random, namespace)));
      made += objects.length;
      const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      if (deletes) await kubectl(['delete', '-f', '-', '--ignore-not-found', '--wait=false'], { stdin });
      else await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { stdin });
    }
  };
  const blowing = namespaces.flatMap((namespace) =>
    Array.from({ length: callsAtATime / namespaces.length || 1 }, () => blow(namespace)),
  );
  await Promise.all(blowing);
  return { made, seed };
}

interface StormObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

function toDistinct(objects: readonly StormObject[]): StormObject[] {
  return [...new Map(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object])).values()];
}

function toObject(random: Random, namespace: string): StormObject {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const index = Math.floor(random() * names);
  const make = pick(makers);
  const name = `${make.prefix}-${index}`;
  // An object may come to belong to another application, or be left out of the cache for a while.
  const annotations = {
    'moniker.spinnaker.io/application':
      random() < 0.9 ? (applications[index % 3] as string) : pick(applications),
    'moniker.spinnaker.io/cluster': `${make.prefix} ${name}`,
    'storm/revision': String(Math.floor(random() * 1e6)),
  };
  const metadata = { namespace, name, annotations, labels: { app: `app-${index % 5}` } };
  return { ...make.toBody(random, index), metadata };
}

interface Maker {
  readonly prefix: string;
  toBody(random: Random, index: number): { kind: string; apiVersion: string };
}

function toTemplate(index: number, image: string): object {
  const labels = { app: `app-${index % 5}`, own: String(index) };
  return {
    metadata: { labels },
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image }] },
  };
}

const toSelector = (index: number): object => ({ matchLabels: { own: String(index) } });
const toImage = (random: Random): string => `registry.example.com/app:${Math.floor(random() * 100)}`;

const makers: readonly Maker[] = [
  {
    prefix: 'deployment',
    toBody: (random, index) => {
      const template = toTemplate(index, toImage(random));
      const replicas = Math.floor(random() * 3);
      return {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        spec: { replicas, selector: toSelector(index), template },
      };
    },
  },
  {
    prefix: 'set',
    toBody: (random, index) => {
      const selector = toSelector(1000 + index);
      const template = toTemplate(1000 + index, 'registry.example.com/app:1');
      const replicas = Math.floor(random() * 3);
      return { apiVersion: 'apps/v1', kind: 'ReplicaSet', spec: { replicas, selector, template } };
    },
  },
  {
    prefix: 'stateful',
    toBody: (random, index) => {
      const template = toTemplate(2000 + index, toImage(random));
      const selector = toSelector(2000 + index);
      const spec = {
        replicas: Math.floor(random() * 2),
        serviceName: `service-${index}`,
        selector,
        template,
      };
      return { apiVersion: 'apps/v1', kind: 'StatefulSet', spec };
    },
  },
  {
    prefix: 'service',
    toBody: (random, index) => ({
      apiVersion: 'v1',
      kind: 'Service',
      spec: { selector: { app: `app-${index % 5}` }, ports: [{ port: 80 + Math.floor(random() * 9) }] },
    }),
  },
  {
    prefix: 'ingress',
    toBody: (random) => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      spec: {
        defaultBackend: {
          service: { name: `service-${Math.floor(random() * names)}`, port: { number: 80 } },
        },
      },
    }),
  },
  {
    prefix: 'policy',
    toBody: (random) => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 + Math.floor(random() * 9) }] }] },
    }),
  },
  {
    prefix: 'config',
    toBody: (random) => {
      const data = { value: String(random()) };
      return { apiVersion: 'v1', kind: 'ConfigMap', data };
    },
  },
];
