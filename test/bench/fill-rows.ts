import { createConcurrencyLimit } from '#core/concurrency.ts';
import type { ApiClient } from './api-client.ts';
import { waitUntilShown } from './application-shown.ts';
import type { BenchServer } from './bench-server.ts';
import type { BenchApplication } from './bench-world.ts';
import { type Measured, type Row, type SampleCounts, takeMemory, takeSamples } from './rows.ts';
import { measure } from './statistics.ts';

export interface FillContext {
  /** Our own, which has just become ready. */
  readonly server: BenchServer;
  readonly client: ApiClient;
  /** An empty server: one that answers each GET at once. */
  readonly floor: ApiClient;
  /** Alone in its namespace. */
  readonly application: BenchApplication;
}

export interface FillSizes extends SampleCounts {
  readonly fill: { readonly deployments: number; readonly podsEach: number };
}

export function createFillRows(sizes: FillSizes): Row<FillContext>[] {
  const { deployments, podsEach } = sizes.fill;
  const of = `${deployments} Deployments with ${podsEach} pods each`;
  return [
    { name: `first fill of the cache, ${of}`, unit: 'ms', aim: 5_000, measure: measureFill },
    { name: `serverGroups, ${of}`, unit: 'ms', measure: (context) => measureServerGroups(sizes, context) },
    { name: `memory, ${of}`, unit: 'MiB', measure: ({ server }) => takeMemory(server) },
  ];
}

/** From the system's ready line until all server groups are shown with all their pods. */
async function measureFill({ server, client, application }: FillContext): Promise<Measured> {
  const startMs = performance.now();
  await waitUntilShown({ server, client, application });
  return { samples: [performance.now() - startMs] };
}

/** Waits anew: the row before may have failed. */
async function measureServerGroups(sizes: FillSizes, context: FillContext): Promise<Measured> {
  const { server, client, floor, application } = context;
  await waitUntilShown({ server, client, application });
  const path = `/applications/${application.name}/serverGroups?expand=false`;
  return takeSamples({
    ...{ ...sizes, server, alone: createConcurrencyLimit(1) },
    sample: () => measure(() => client.get(path)),
    floor: () => measure(() => floor.get(path)),
  });
}
