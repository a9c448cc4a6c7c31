import { stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { getErrorMessage, VisibleError } from '#core/errors.ts';
import { asJsonArray, asString, getPath } from '#core/json.ts';
import type { Environment } from '#platform/config.ts';
import { loadSettings } from '#settings/live/settings.ts';
import { getSetting } from '#settings/spring-config.ts';
import type { CheckRow } from '../check-table.ts';
import { toLine } from '../terminal.ts';

/** Bytes that should be free where the data is. */
const freeBytesMin = 1024 ** 3;

/** Milliseconds that AWS may take. */
const awsTimeoutMs = 10_000;

/** The disk of a data directory, and who can open that. Where there is none yet, the disk of the folder in which it would be made. */
export async function checkDisk(dataDir: string): Promise<readonly CheckRow[]> {
  const dir = path.resolve(dataDir);
  const found = await stat(dir).catch(() => undefined);
  const rows: CheckRow[] = [];
  try {
    const { bavail, bsize } = await statfs(found === undefined ? path.dirname(dir) : dir);
    const free = bavail * bsize;
    const isEnough = free >= freeBytesMin;
    rows.push({
      check: 'disk',
      state: isEnough ? 'ok' : 'failed',
      found: `${(free / 1024 ** 3).toFixed(1)} GiB free for ${dir}${found === undefined ? ', which is not there yet' : ''}`,
      ...(!isEnough && { next: 'free at least 1 GiB, or pass another --data-dir to busdriver start' }),
    });
  } catch (error) {
    const next = 'name the data directory by --data-dir';
    rows.push({ check: 'disk', state: 'unknown', found: toLine(getErrorMessage(error)), next });
  }
  if (found !== undefined && process.getuid !== undefined) rows.push(checkOwner(dir, found));
  return rows;
}

function checkOwner(dir: string, { mode, uid }: { readonly mode: number; readonly uid: number }): CheckRow {
  const check = 'data directory';
  if (uid !== process.getuid?.())
    return {
      check,
      state: 'failed',
      found: `${dir} belongs to user ${uid}`,
      next: 'run Busdriver as its owner',
    };
  if ((mode & 0o077) !== 0)
    return { check, state: 'failed', found: `${dir} is open to other users`, next: `chmod -R go= ${dir}` };
  return { check, state: 'ok', found: `${dir} is yours alone` };
}

/** Settings to be read. */
export interface SettingsChoice {
  readonly files: readonly string[];
  /** With commas between. */
  readonly profiles: string;
  /** For placeholders. */
  readonly environment: Environment;
}

/** Reads settings as Busdriver does. @returns the names of their Kubernetes accounts */
export async function checkSettings(
  { files, profiles, environment }: SettingsChoice,
  rows: CheckRow[],
): Promise<readonly string[]> {
  const check = 'settings';
  try {
    const { settings } = await loadSettings({
      ...{ files, environment },
      profiles: profiles.split(',').map((name) => name.trim()),
    });
    const accounts = asJsonArray(getSetting(settings, 'kubernetes.accounts'));
    rows.push({ check, state: 'ok', found: `read, with ${accounts.length} Kubernetes accounts` });
    return accounts.flatMap((account) => asString(getPath(account, 'name')) ?? []);
  } catch (error) {
    if (!(error instanceof VisibleError)) throw error;
    rows.push({ check, state: 'failed', found: toLine(error.message), next: 'mend that place of the file' });
    return [];
  }
}

/** Who AWS says that we are. */
export async function checkAws(environment: Environment): Promise<readonly CheckRow[]> {
  const check = 'AWS';
  const region = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'];
  const { GetCallerIdentityCommand, STSClient } = await import('@aws-sdk/client-sts');
  const client = new STSClient({ maxAttempts: 2, ...(region && { region }) });
  try {
    const abortSignal = AbortSignal.timeout(awsTimeoutMs);
    const { Arn = 'nobody' } = await client.send(new GetCallerIdentityCommand({}), { abortSignal });
    const found = `you are ${toLine(Arn)}${region ? ` in ${region}` : ''}`;
    return [{ check, state: 'ok', found, next: 'npm run deploy:check looks at the account before a deploy' }];
  } catch (error) {
    const next = 'aws sso login, or set AWS_PROFILE and AWS_REGION; a wrong clock has requests refused, too';
    return [{ check, state: 'failed', found: toLine(getErrorMessage(error)), next }];
  } finally {
    client.destroy();
  }
}
