/** Agents in clusters own the leases of what they keep cached under names that begin so; workers never do. */
const prefix = 'caching@';

/** Owner of the leases of an agent in a cluster: what is demanded of it is kept under this name, too. */
export function toCacheOwner(agentId: string): string {
  return `${prefix}${agentId}`;
}

/** Whether the owner of a lease is an agent in a cluster. */
export function isCacheOwner(owner: string): boolean {
  return owner.startsWith(prefix);
}
