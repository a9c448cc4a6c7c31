import type { RunningSystem } from './running-system.ts';

export interface FetchedArtifact {
  readonly type: string;
  readonly artifactAccount: string;
  readonly reference: string;
}

/**
 * Begins to fetch an artifact, by `PUT /artifacts/fetch`.
 *
 * @param signal breaks it off.
 * @throws Error with what the system says when it does not answer the artifact
 */
export async function openArtifact(
  { url }: RunningSystem,
  artifact: FetchedArtifact,
  signal?: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const headers = { 'content-type': 'application/json' };
  const request = { method: 'PUT', headers, body: JSON.stringify(artifact), ...(signal && { signal }) };
  const response = await fetch(new URL('/artifacts/fetch', url), request);
  if (response.status === 200 && response.body !== null) return response.body;
  throw new Error(`PUT /artifacts/fetch answered ${response.status}: ${await response.text()}`);
}

/** Fetches an artifact. @returns its bytes, of which none are kept. @throws Error when it is not answered as a whole */
export async function readArtifact(system: RunningSystem, artifact: FetchedArtifact): Promise<number> {
  let bytes = 0;
  for await (const piece of await openArtifact(system, artifact)) bytes += piece.length;
  return bytes;
}
