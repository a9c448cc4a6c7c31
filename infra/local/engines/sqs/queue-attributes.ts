import { asJsonObject, type JsonObject, parseJson } from '#core/json.ts';
import { AwsError } from '../engine.ts';
import type { NumberRange } from '../engine-input.ts';

/** Settings of a queue; times in seconds, sizes in bytes. */
export interface QueueAttributes {
  readonly DelaySeconds: number;
  readonly MessageRetentionPeriod: number;
  readonly VisibilityTimeout: number;
  readonly RedrivePolicy: RedrivePolicy | undefined;
}

/** Where messages go that were received too often. */
export interface RedrivePolicy {
  readonly deadLetterTargetArn: string;
  /** Deliveries a message gets, 1 to 1000. */
  readonly maxReceiveCount: number;
}

/** AWS' limit of a message in bytes; since August 2025 it is 1 MiB. */
export const maximumMessageBytes = 1 << 20;

/** The longest that a message can be hidden: 12 hours, in seconds. */
export const visibilityTimeoutRange: NumberRange = { from: 0, to: 43_200 };

/** The longest delay of a message: 15 minutes, in seconds. */
export const delayRange: NumberRange = { from: 0, to: 900 };

const numberAttributes = {
  DelaySeconds: delayRange,
  MessageRetentionPeriod: { from: 60, to: 1_209_600 },
  VisibilityTimeout: visibilityTimeoutRange,
} as const satisfies { readonly [name: string]: NumberRange };

/** What AWS gives a queue that names no attributes. */
export const defaultQueueAttributes: QueueAttributes = {
  DelaySeconds: 0,
  MessageRetentionPeriod: 345_600,
  VisibilityTimeout: 30,
  RedrivePolicy: undefined,
};

/**
 * Reads the attributes of a request, all of which are strings on the wire.
 *
 * @returns only those that were given
 * @throws AwsError InvalidAttributeName or InvalidAttributeValue
 */
export function parseQueueAttributes(input: JsonObject): Partial<QueueAttributes> {
  const parsed: { -readonly [name in keyof QueueAttributes]?: QueueAttributes[name] } = {};
  for (const [name, value] of Object.entries(input)) {
    if (isNumberAttribute(name)) parsed[name] = parseNumber(name, value);
    else if (name === 'RedrivePolicy') parsed.RedrivePolicy = parseRedrivePolicy(value);
    else throw new AwsError('InvalidAttributeName', `Unknown Attribute ${name}.`);
  }
  return parsed;
}

/** Attributes as strings, as AWS answers them. An absent redrive policy is left out. */
export function formatQueueAttributes(attributes: QueueAttributes): { [name: string]: string } {
  const { RedrivePolicy, ...numbers } = attributes;
  const texts = Object.entries(numbers).map(([name, value]) => [name, String(value)]);
  if (RedrivePolicy !== undefined) texts.push(['RedrivePolicy', JSON.stringify(RedrivePolicy)]);
  return Object.fromEntries(texts);
}

function isNumberAttribute(name: string): name is keyof typeof numberAttributes {
  return Object.hasOwn(numberAttributes, name);
}

function parseNumber(name: keyof typeof numberAttributes, value: unknown): number {
  const { from, to } = numberAttributes[name];
  const number = Number(value);
  if (typeof value === 'string' && /^\d+$/.test(value) && number >= from && number <= to) return number;
  throw new AwsError('InvalidAttributeValue', `Invalid value for the parameter ${name}.`);
}

/** An empty text takes the policy away. */
function parseRedrivePolicy(value: unknown): RedrivePolicy | undefined {
  if (value === '') return undefined;
  const policy = typeof value === 'string' ? asJsonObject(parseJson(value)) : undefined;
  const target = policy?.['deadLetterTargetArn'];
  const count = Number(policy?.['maxReceiveCount']);
  if (typeof target === 'string' && Number.isInteger(count) && count >= 1 && count <= 1000) {
    return { deadLetterTargetArn: target, maxReceiveCount: count };
  }
  throw new AwsError(
    'InvalidAttributeValue',
    `Value ${value} for parameter RedrivePolicy is invalid. ` +
      'Reason: It must hold deadLetterTargetArn and a maxReceiveCount from 1 to 1000.',
  );
}
