import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes a key that signs sessions of agents, as an operator makes one. @returns its file */
export async function writeSessionKey(dir: string): Promise<string> {
  const file = join(dir, 'agent-sessions.jwk');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeFile(file, JSON.stringify(privateKey.export({ format: 'jwk' })), { mode: 0o600 });
  return file;
}
