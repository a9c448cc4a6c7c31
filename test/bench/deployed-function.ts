import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** What Lambda's runtime does: it imports the handler's file, and calls the handler with each event. No TypeScript, for that takes time to load. */
const runtime = `
  const loading = import(process.argv[1]);
  process.on('message', async ({ event, context, remainingMs }) => {
    const endsAtMs = performance.now() + remainingMs;
    const getRemainingTimeInMillis = () => Math.max(0, endsAtMs - performance.now());
    try {
      const { handler } = await loading;
      process.send({ answer: await handler(event, { ...context, getRemainingTimeInMillis }) });
    } catch (error) {
      process.send({ problem: String(error?.stack ?? error) });
    }
  });
  process.once('disconnect', () => process.exit());`;

/** A function of a bundle in a process of its own, for one event at a time. Disposing kills it. */
export class DeployedFunction implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<undefined>;

  /** Has it start: it takes its first event when it can. @param file of its bundle that Lambda imports @param env all of its environment */
  constructor(file: string, env: { readonly [name: string]: string }) {
    const args = ['--input-type=module', '--eval', runtime, file];
    // Standard output is for the rows.
    this.#child = spawn(process.execPath, args, { env, stdio: ['ignore', 2, 2, 'ipc'] });
    this.#ended = once(this.#child, 'exit').then(() => undefined);
  }

  /** What it answers to an event. @throws Error for what it throws, and when it ends before it answers */
  async invoke(
    event: unknown,
    { getRemainingTimeInMillis, ...context }: { getRemainingTimeInMillis(): number },
  ): Promise<unknown> {
    const answered = once(this.#child, 'message');
    this.#child.send({ event, context, remainingMs: getRemainingTimeInMillis() });
    const told = await Promise.race([answered, this.#ended]);
    const { answer, problem } = told === undefined ? { problem: 'its process has ended' } : told[0];
    if (problem !== undefined) throw new Error(problem);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
