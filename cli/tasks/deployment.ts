import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { parseAllDocuments } from 'yaml';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonArray, asJsonObject, asString, getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import type { ApiClient } from '../api-client.ts';
import { CliError } from '../cli-error.ts';
import { type CliContext, isJsonWanted, openClient } from '../context.ts';
import { readSmallFile } from '../small-file.ts';
import { type Terminal, toLine } from '../terminal.ts';
import { awaitTask, listFailures } from './task-end.ts';

/** What to deploy, and how. */
export interface DeploymentOptions {
  readonly account: string;
  readonly application: string;
  readonly filename: readonly string[];
  readonly namespace?: string;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
  /** Seconds that `wait` may take. */
  readonly timeout: string;
}

/** Objects of one YAML file at most. */
const documentsMax = 1_000;

/** Milliseconds between two looks whether objects are stable. */
const lookMs = 1_000;

/**
 * Deploys the manifests of files as one task, and follows it to its end.
 *
 * @returns the exit code: 0 done, or nothing would change; 1 where it failed; of a dry run 2 where something would change
 * @throws CliError for a file that cannot be read, and what the client throws
 */
export async function deploy(
  context: CliContext,
  options: DeploymentOptions,
  command: Command,
): Promise<0 | 1 | 2> {
  const { terminal } = context;
  const client = openClient(context, command);
  const manifests = (await Promise.all(options.filename.map(readManifests))).flat();
  if (manifests.length === 0) throw new CliError('there is no object in what -f names', { exitCode: 2 });
  const id = await start(client, manifests, options);
  const isJson = isJsonWanted(command);
  const task = await awaitTask({ client, terminal, id, isShown: !isJson });
  if (isJson) terminal.printJson(task);
  const failures = listFailures(task);
  for (const failure of failures) terminal.tell(`${terminal.styleTold('red', 'failed:')} ${failure}`);
  if (failures.length > 0) return 1;
  if (options.dryRun) return showChanges(task, { terminal, isJson });
  if (options.wait) await waitUntilStable(client, terminal, { task, options });
  if (!isJson) terminal.print(`task ${id} completed`);
  return 0;
}

/** The objects of a file of YAML or JSON; of `-` those of standard input. @throws CliError naming the file and the line */
async function readManifests(file: string): Promise<JsonObject[]> {
  const text = (await readSmallFile(file === '-' ? '/dev/stdin' : file)).toString('utf8');
  const documents = parseAllDocuments(text, { version: '1.1', maxAliasCount: 100 } as object);
  if (documents.length > documentsMax)
    throw new CliError(
      `${file} has ${documents.length} objects: at most ${documentsMax} are deployed at once`,
    );
  const objects: JsonObject[] = [];
  for (const [index, document] of documents.entries()) {
    const [error] = document.errors;
    if (error !== undefined) throw new CliError(`${file}: ${toLine(error.message)}`);
    const value = readValue(document, file);
    if (value === null) continue;
    const object = asJsonObject(value);
    if (object === undefined || asString(object['kind']) === undefined)
      throw new CliError(`${file}: document ${index + 1}: expected an object of Kubernetes with a kind`);
    objects.push(object);
  }
  return objects;
}

function readValue(document: { toJS(options?: object): unknown }, file: string): JsonValue {
  try {
    return JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 100 })));
  } catch (error) {
    throw new CliError(`${file}: ${toLine(getErrorMessage(error))}`, { cause: error });
  }
}

/** @returns the id of the task */
async function start(
  client: ApiClient,
  manifests: readonly JsonObject[],
  options: DeploymentOptions,
): Promise<string> {
  const { account, application, namespace, dryRun } = options;
  const deployManifest = {
    ...{
      account,
      cloudProvider: 'kubernetes',
      source: 'text',
      moniker: { app: application },
      manifests: [...manifests],
    },
    ...(namespace !== undefined && { namespaceOverride: namespace }),
  };
  const query = new URLSearchParams({ clientRequestId: randomUUID(), ...(dryRun && { dryRun: 'true' }) });
  const { body } = await client.send(`/kubernetes/ops?${query}`, {
    method: 'POST',
    body: [{ deployManifest }],
  });
  return asString(getPath(body, 'id')) ?? '';
}

/** Prints the differences. @returns 2 where there are any */
function showChanges(
  task: JsonValue | undefined,
  { terminal, isJson }: { readonly terminal: Terminal; readonly isJson: boolean },
): 0 | 2 {
  const outputs = asJsonArray(getPath(task, 'outputs'));
  if (!isJson)
    for (const output of outputs)
      for (const line of (asString(getPath(output, 'stdOut')) ?? '').trimEnd().split('\n'))
        terminal.print(toDiffLine(terminal, line));
  return outputs.length > 0 ? 2 : 0;
}

/** A line of a difference, with its indentation. */
function toDiffLine(terminal: Terminal, line: string): string {
  const [, indent = '', rest = ''] = /^([-+ ]? *)(.*)$/s.exec(line) ?? [];
  const text = indent + toLine(rest);
  if (line.startsWith('+')) return terminal.style('green', text);
  return line.startsWith('-') ? terminal.style('red', text) : text;
}

/** @throws CliError naming an object that failed, or is not stable in time */
async function waitUntilStable(
  client: ApiClient,
  terminal: Terminal,
  { task, options }: { readonly task: JsonValue | undefined; readonly options: DeploymentOptions },
): Promise<void> {
  const endsAtMs = performance.now() + Number(options.timeout) * 1_000;
  for (const path of listObjects(task, options.account)) {
    let said = '';
    await terminal.wait(
      () => `${path.name}: ${said || 'waiting until it is stable'}`,
      async () => {
        for (;;) {
          const status = getPath(await client.get(path.url), 'status');
          said = toLine(asString(getPath(status, 'stable', 'message')) ?? '');
          if (getPath(status, 'stable', 'state') === true) return;
          if (getPath(status, 'failed', 'state') === true)
            throw new CliError(
              `${path.name}: ${toLine(asString(getPath(status, 'failed', 'message')) ?? 'it failed')}`,
            );
          if (performance.now() > endsAtMs)
            throw new CliError(`${path.name} is not stable after ${options.timeout} s: ${said}`, {
              next: 'give it longer by --timeout, or look at the object',
            });
          await sleep(lookMs);
        }
      },
    );
    terminal.tell(`${path.name} is stable`);
  }
}

/** Where the deployed objects of a task are read. */
function listObjects(
  task: JsonValue | undefined,
  account: string,
): { readonly name: string; readonly url: string }[] {
  return asJsonArray(getPath(task, 'resultObjects')).flatMap((result) =>
    Object.entries(asJsonObject(getPath(result, 'manifestNamesByNamespace')) ?? {}).flatMap(
      ([namespace, names]) =>
        asJsonArray(names).map((name) => {
          const parts = [account, ...(namespace === '' ? [] : [namespace]), String(name)];
          return { name: toLine(String(name)), url: `/manifests/${parts.map(encodeURIComponent).join('/')}` };
        }),
    ),
  );
}
