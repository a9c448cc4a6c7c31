import { setTimeout as sleep } from 'node:timers/promises';
import { asJsonArray, asString, getPath, type JsonValue } from '#core/json.ts';
import type { ApiClient } from '../api-client.ts';
import { ApiError } from '../cli-error.ts';
import { type Terminal, toLine } from '../terminal.ts';

/** Seconds that an answer may wait for the end of a task. */
const waitSeconds = 15;

/** Milliseconds until a request that was refused is made again, and how often it is made. */
const retryMs = 1_000;
const triesMax = 120;

/** Milliseconds between two answers of a server that does not wait for the end of a task. */
const pauseMs = 500;

/** How to wait for a task. */
export interface AwaitTaskOptions {
  readonly client: ApiClient;
  readonly terminal: Terminal;
  readonly id: string;
  /** Whether lines of its history are printed as they come. */
  readonly isShown: boolean;
}

/**
 * Reads a task until it has ended. Requests that the server refuses for a moment are made again.
 *
 * @returns the task as the server answers it
 * @throws ApiError when the task cannot be read; CliError when there is no answer
 */
export async function awaitTask({
  client,
  terminal,
  id,
  isShown,
}: AwaitTaskOptions): Promise<JsonValue | undefined> {
  let printed = 0;
  let status = '';
  for (;;) {
    const askedAt = performance.now();
    const task = await terminal.wait(
      () => status || `waiting for task ${id}`,
      () => read(client, id),
    );
    const lines = listHistory(task);
    if (isShown) for (const line of lines.slice(printed)) terminal.tell(line);
    printed = Math.max(printed, lines.length);
    status = asString(getPath(task, 'status', 'status')) ?? '';
    if (getPath(task, 'status', 'completed') === true) return task;
    // A server that does not wait, such as a Clouddriver behind this one, is not asked all the time.
    if (performance.now() - askedAt < pauseMs) await sleep(pauseMs);
  }
}

async function read(client: ApiClient, id: string): Promise<JsonValue | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.get(`/task/${encodeURIComponent(id)}?waitSeconds=${waitSeconds}`);
    } catch (error) {
      const isPassing = error instanceof ApiError && [429, 503].includes(error.status);
      if (!isPassing || tries === triesMax) throw error;
      await sleep(retryMs);
    }
  }
}

/** The lines of a task's history, of which each is a line here. */
export function listHistory(task: JsonValue | undefined): readonly string[] {
  return asJsonArray(getPath(task, 'history')).map((line) =>
    toLine(
      `${(asString(getPath(line, 'phase')) ?? '').padEnd(28)} ${asString(getPath(line, 'status')) ?? ''}`,
    ),
  );
}

/** Why a task failed, each operation's own words; empty where it did not fail. */
export function listFailures(task: JsonValue | undefined): readonly string[] {
  if (getPath(task, 'status', 'failed') !== true) return [];
  const messages = asJsonArray(getPath(task, 'resultObjects'))
    .filter((result) => getPath(result, 'type') === 'EXCEPTION')
    .map((result) => toLine(asString(getPath(result, 'message')) ?? ''));
  return messages.length > 0
    ? messages
    : [toLine(asString(getPath(task, 'status', 'status')) ?? 'it failed')];
}
