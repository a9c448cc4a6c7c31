import type { AccountHealth, AccountHealthStore } from './account-health.ts';

/** The name by which the health of one region of an account is stored. */
export function toRegionalName(account: string, region: string | undefined): string {
  return region === undefined ? account : `${account}/${region}`;
}

/**
 * What is stored, and for each account that is called by regions the health of all together. It is `UP` if each of them is, `DOWN` if none
 * is called, else `DEGRADED`; the reason is that of the first one that is not up, behind the region's name.
 */
export function joinRegions(stored: ReadonlyMap<string, AccountHealth>): ReadonlyMap<string, AccountHealth> {
  const regional = [...stored].filter(([name]) => name.includes('/'));
  const accounts = Map.groupBy(regional, ([name]) => name.slice(0, name.lastIndexOf('/')));
  return new Map([...[...accounts].map(([name, regions]) => [name, join(regions)] as const), ...stored]);
}

/** The health of an account, whether it is called by regions or not; undefined when unknown. */
export async function findJoinedHealth(
  store: Pick<AccountHealthStore, 'find' | 'list'>,
  account: string,
): Promise<AccountHealth | undefined> {
  return (await store.find(account)) ?? joinRegions(await store.list()).get(account);
}

function join(regions: readonly (readonly [string, AccountHealth])[]): AccountHealth {
  const all = regions.map(([, health]) => health);
  const [name, bad] = regions.find(([, { state }]) => state !== 'UP') ?? [];
  const isDown = all.every(({ state }) => state === 'DOWN');
  const lastSuccessMs = Math.max(...all.map((health) => health.lastSuccessMs ?? 0));
  return {
    state: bad === undefined ? 'UP' : isDown ? 'DOWN' : 'DEGRADED',
    ...(bad?.reason && { reason: `${name?.split('/').at(-1)}: ${bad.reason}` }),
    sinceMs: bad?.sinceMs ?? Math.max(...all.map(({ sinceMs }) => sinceMs)),
    checkedAtMs: Math.max(...all.map(({ checkedAtMs }) => checkedAtMs)),
    ...(lastSuccessMs > 0 && { lastSuccessMs }),
    breaker: isDown ? 'open' : 'closed',
  };
}
