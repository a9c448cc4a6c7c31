import * as z from 'zod';
import { parseJson } from '#core/json.ts';
import { type CloseCode, closeCodes, type Hint, type HintKind } from '../agent-connections.ts';
import { protocolVersion } from './messages.ts';

/** Bytes of a frame at most. */
export const frameBytesMax = 1_024;

const kindsByLetter = {
  task: 'TASK',
  read: 'READ',
  refresh: 'REFRESH',
  accounts: 'ACCOUNTS',
  close: 'CLOSE',
} as const satisfies { readonly [letter: string]: HintKind };

const text = z.string().max(253);

/** Members of every frame. Unknown ones are ignored. */
const frameSchema = z.object({ v: z.int(), t: z.string() });

/** There is work: which sort, of which account, which one, and until when somebody waits. */
export const workFrameSchema = z.object({ k: z.string(), a: text, id: text, d: z.number().optional() });

/** `ping` of an agent, and `pong`, its answer, with the same number. */
export const pingFrameSchema = z.object({ n: z.int() });

/** A frame that is not to be understood: malformed, or of another protocol. */
export class FrameError extends Error {
  override name = 'FrameError';
  readonly code: CloseCode;

  constructor(code: CloseCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The frame of a hint. */
export function toWorkFrame({ kind, account, id, deadlineMs }: Hint): string {
  return JSON.stringify({
    ...{ v: protocolVersion, t: 'work', k: kind.toLowerCase(), a: account, id },
    ...(deadlineMs !== undefined && { d: deadlineMs }),
  });
}

/** The frame of a ping, or of its answer. */
export function toPingFrame(t: 'ping' | 'pong', n: number): string {
  return JSON.stringify({ v: protocolVersion, t, n });
}

/** A frame as far as it is known; undefined for one of a type, or a kind of work, that newer sides may send. */
export type Frame =
  | { readonly type: 'ping' | 'pong'; readonly n: number }
  | ({ readonly type: 'work' } & Hint);

/** Reads a frame. @throws FrameError */
export function parseFrame(text: string): Frame | undefined {
  const value = parseJson(text);
  const frame = frameSchema.safeParse(value);
  if (!frame.success) throw new FrameError(closeCodes.malformed, 'expected a frame: JSON with v and t');
  const { v, t } = frame.data;
  if (v !== protocolVersion) {
    throw new FrameError(closeCodes.protocol, `expected protocol ${protocolVersion}, got ${v}`);
  }
  if (t === 'ping' || t === 'pong') return { type: t, ...parsePart(pingFrameSchema, value, t) };
  return t === 'work' ? parseWork(parsePart(workFrameSchema, value, t)) : undefined;
}

function parseWork({ k, a: account, id, d }: z.infer<typeof workFrameSchema>): Frame | undefined {
  const kind = Object.entries(kindsByLetter).find(([letter]) => letter === k)?.[1];
  return kind && { type: 'work', kind, account, id, ...(d !== undefined && { deadlineMs: d }) };
}

function parsePart<T>(schema: z.ZodType<T>, value: unknown, type: string): T {
  const part = schema.safeParse(value);
  if (part.success) return part.data;
  const { path = [], message = '' } = part.error.issues[0] ?? {};
  throw new FrameError(closeCodes.malformed, `${type}.${path.join('.')}: ${message}`);
}
