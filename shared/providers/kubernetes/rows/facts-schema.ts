import * as z from 'zod';
import { spinnakerKinds } from '../kinds/kind.ts';
import type { V1Facts } from './v1-facts.ts';

/** The most items of a list in an object's facts: owners, images, containers, ports. */
const itemsMax = 1_000;

/** The most labels of an object: the API server accepts 256 KiB in total. */
const labelsMax = 5_000;

const text = z.string().max(4_096);
const name = z.string().min(1).max(253);
const textMap = z
  .record(z.string().min(1).max(400), text)
  .refine((map) => Object.keys(map).length <= labelsMax, { error: `expected ${labelsMax} members at most` });
const texts = z.array(text).max(itemsMax).readonly();

/** A port of a network policy: protocol, port, last port of a range; null if it is absent. */
const portSchema = z.tuple([
  text.nullable(),
  z.union([z.number(), text]).nullable().optional(),
  z.number().optional(),
]);

/** An owner: kind, name, uid, and whether it is a manager, if that differs from the built-in kinds. */
const ownerSchema = z.tuple([name, name, text, z.literal([0, 1]).optional()]);

/** Application, cluster, stack, detail, sequence. */
const monikerSchema = z.strictObject({
  a: text.optional(),
  c: text.optional(),
  s: text.optional(),
  d: text.optional(),
  q: z.int().min(0).optional(),
});

const workloadSchema = z.strictObject({
  /** Replicas. */
  r: z.int().min(0).optional(),
  /** Images. */
  i: texts,
  /** Pod labels; omitted if they equal the object's own. */
  l: textMap.optional(),
  /** Load balancers of the traffic annotation. */
  b: texts.optional(),
  /** Name of the governing service. */
  s: text.optional(),
});

/** Facts of a V2 account as they are stored and sent: members with their usual value are omitted. It also judges untrusted senders. */
export const encodedFactsSchema = z.strictObject({
  /** Version. */
  v: z.int(),
  /** Kind. */
  k: name,
  /** Spinnaker's kind; omitted if the built-in kinds say the same. */
  K: z.enum(spinnakerKinds).optional(),
  /** API version; omitted if it is the usual one of the kind. */
  a: text.optional(),
  /** Namespace; omitted for cluster-scoped objects. */
  s: text.optional(),
  n: name,
  /** UID. */
  u: text,
  /** Resource version. */
  r: text,
  /** Creation in epoch seconds. */
  t: z.number().optional(),
  l: textMap.optional(),
  /** Omitted if the name says the same. */
  m: monikerSchema.optional(),
  o: z.array(ownerSchema).max(itemsMax).optional(),
  w: workloadSchema.optional(),
  /** A pod's phase, omitted for `Running`, and its containers. */
  p: z.strictObject({ s: text.optional(), c: texts }).optional(),
  /** Selector of a service. */
  f: textMap.optional(),
  /** Services of an ingress. */
  i: texts.optional(),
  /** Ports of a network policy: inbound, outbound. */
  x: z.tuple([z.array(portSchema).max(itemsMax), z.array(portSchema).max(itemsMax)]).optional(),
});

/** Facts in their short form. */
export interface EncodedFacts extends Omit<z.infer<typeof encodedFactsSchema>, 'v'> {
  /** Facts of objects of V1 accounts. */
  readonly z?: V1Facts;
}

/** An owner in its short form. */
export type EncodedOwner = z.infer<typeof ownerSchema>;
/** A port in its short form. */
export type EncodedPort = z.infer<typeof portSchema>;
/** A moniker in its short form. */
export type EncodedMoniker = z.infer<typeof monikerSchema>;
/** A server group in its short form. */
export type EncodedWorkload = z.infer<typeof workloadSchema>;
