import { createHash } from 'node:crypto';
import type { Fault, PassingCall } from '#test/support/cluster/api-proxy.ts';

/** What goes wrong, and when: the same for the same seed, in whatever order calls come. */
export interface FaultPlan {
  getFault(call: PassingCall): Fault | undefined;
  breaksHandshake(): boolean;
  readonly counts: { readonly [type: string]: number };
}

/** Every way in which a call goes wrong; each is as likely. */
const faults: readonly Fault[] = [
  { type: 'latency', ms: 50 },
  { type: 'latency', ms: 250 },
  { type: 'status', status: 429, retryAfterSeconds: 0 },
  { type: 'status', status: 429, retryAfterSeconds: 1 },
  { type: 'status', status: 500 },
  { type: 'status', status: 503, retryAfterSeconds: 1 },
  ...(['before', 'after', 'midst'] as const).flatMap((when): Fault[] => [
    { type: 'reset', when },
    { type: 'half-close', when },
  ]),
];

/** Plans faults for a share of the calls, and of the connections. */
export function planFaults(seed: number, share: number): FaultPlan {
  const turns = new Map<string, number>();
  const counts: { [type: string]: number } = {};
  /** From 0 to 1, by the seed, what it is about, and how often that was asked. */
  const draw = (about: string): number => {
    const turn = (turns.get(about) ?? 0) + 1;
    turns.set(about, turn);
    const hash = createHash('sha256').update(`${seed} ${about} ${turn}`).digest();
    return hash.readUInt32BE() / 2 ** 32;
  };
  const count = (type: string): void => {
    counts[type] = (counts[type] ?? 0) + 1;
  };
  return {
    counts,
    getFault(call) {
      const position = draw(describeCall(call)) / share;
      if (position >= 1) return undefined;
      const fault = faults[Math.floor(position * faults.length)] as Fault;
      count(
        'when' in fault
          ? `${fault.type} ${fault.when}`
          : `${fault.type} ${'status' in fault ? fault.status : ''}`.trim(),
      );
      return fault;
    },
    breaksHandshake() {
      const isBroken = draw('connection') < share;
      if (isBroken) count('TLS handshake');
      return isBroken;
    },
  };
}

/** What a call is about, in words that are the same in each run of a test: no namespace, no made-up part of a name. */
function describeCall({ method, path, body }: PassingCall): string {
  const { metadata } = (body ?? {}) as { metadata?: { name?: string } };
  const place = path.replace(/\/namespaces\/[^/]+/, '');
  const name = method === 'POST' ? (metadata?.name ?? '') : '';
  return `${method} ${place} ${name}`.replace(/-made-[a-z0-9]{5}\b/g, '-made-');
}
