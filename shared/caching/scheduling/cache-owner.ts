/** Prefix of the names under which agents in clusters own the leases of what they cache; workers never use it. */
const prefix = 'caching@';

/** Owner of the leases of an agent in a cluster. Demands on it are stored under this name, too. */
export function toCacheOwner(agentId: string): string {
  return `${prefix}${agentId}`;
}

/** Whether the owner of a lease is an agent in a cluster. */
export function isCacheOwner(owner: string): boolean {
  return owner.startsWith(prefix);
}
