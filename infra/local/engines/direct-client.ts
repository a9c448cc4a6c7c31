import { AwsError, type Engine } from './engine.ts';
import { sdkActions, toKnownError } from './sdk-classes.ts';

/** A call of an engine of this process. */
export interface DirectCall {
  readonly service: 'dynamodb' | 'sqs' | 'eventbridge';
  /** Such as `PutItem`. */
  readonly action: string;
  readonly input: object;
}

/**
 * What stands around each call of the engines of this process: nothing, unless a test puts something there, which counts calls, or has
 * them go wrong.
 */
export interface DirectHook {
  /** @param perform has the engine do it, or what is given in its place, any number of times */
  around?: ((call: DirectCall, perform: Perform) => Promise<object>) | undefined;
}

/** Has an engine do something. @param input default: that of the call */
export type Perform = (input?: object) => Promise<object>;

/** What a client is made of. */
export interface DirectClientOptions {
  readonly service: DirectCall['service'];
  readonly engine: Pick<Engine, 'perform'>;
  readonly hook: DirectHook;
}

/** What a client sends: commands of the AWS SDK hold their input. */
interface DirectCommand {
  readonly input: object;
}

/** Sends commands of the AWS SDK to an engine of this process. */
export interface DirectClient {
  send(command: DirectCommand, options?: { readonly abortSignal?: AbortSignal }): Promise<object>;
}

/**
 * A client of an engine of this process: the engine is given what a command holds. Nothing is signed or written as JSON, there is no
 * socket, and no deadline: what the engine has begun it ends, however busy the process is.
 */
export function createDirectClient({ service, engine, hook }: DirectClientOptions): DirectClient {
  return {
    async send(command, { abortSignal: signal } = {}) {
      const { name } = command.constructor;
      const action = sdkActions.get(command.constructor) ?? name.replace(/Command$/, '');
      const { input } = command;
      const perform: Perform = (given = input) => engine.perform(action, given, { signal });
      try {
        return await (hook.around === undefined
          ? perform()
          : hook.around({ service, action, input }, perform));
      } catch (error) {
        throw toServiceError(error);
      }
    },
  };
}

/** A refusal as the SDK throws it. */
function toServiceError(error: unknown): unknown {
  if (!(error instanceof AwsError)) return error;
  const { code, message, status } = error;
  const $fault = status >= 500 ? 'server' : 'client';
  const known = toKnownError(code, message);
  return (
    known ?? Object.assign(new Error(message), { name: code, $fault, $metadata: { httpStatusCode: status } })
  );
}
