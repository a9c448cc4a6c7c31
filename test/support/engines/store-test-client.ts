import type { StoreClient } from '#platform/aws/table.ts';

/** A command of the SDK, as far as a step looks at it. */
export interface StepArguments {
  readonly input: object;
}

/** What a step answers: the output of a command. */
export interface StepResult {
  readonly output: object;
}

/** Sends on, or does something else. */
export type NextStep = (args: StepArguments) => Promise<StepResult>;

/** A step that a test puts on the way of each command of a client. */
export type ClientStep = (next: NextStep, context: { readonly commandName: string }) => NextStep;

/** A client of DynamoDB on whose way tests put steps. It is added to as the SDK's own is: what was added last is passed first. */
export interface StoreTestClient extends StoreClient {
  readonly middlewareStack: { add(step: ClientStep, options?: object): void };
}

interface Command {
  readonly input: object;
}

type Send = (command: Command, options?: object) => Promise<object>;

/** Puts steps around a client, which may be the SDK's, or one of an engine in this process. */
export function toStoreTestClient(client: StoreClient): StoreTestClient {
  const steps: ClientStep[] = [];
  const send = client.send.bind(client) as unknown as Send;
  const sendWithSteps: Send = async (command, options) => {
    if (steps.length === 0) return options === undefined ? send(command) : send(command, options);
    const CommandClass = command.constructor as new (input: object) => Command;
    const last: NextStep = async ({ input }) => {
      // What a step has changed is another command.
      const sent = input === command.input ? command : new CommandClass(input);
      return { output: await (options === undefined ? send(sent) : send(sent, options)) };
    };
    const context = { commandName: CommandClass.name };
    const first = steps.reduce((next, step) => step(next, context), last);
    return (await first({ input: command.input })).output;
  };
  return {
    send: sendWithSteps as unknown as StoreClient['send'],
    middlewareStack: { add: (step) => void steps.push(step) },
  };
}
