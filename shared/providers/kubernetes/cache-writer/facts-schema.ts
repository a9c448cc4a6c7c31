import * as z from 'zod';
import { spinnakerKinds } from '../kinds/kind.ts';

/** The most items of a list in an object's facts: owners, images, containers, ports. */
const itemsMax = 1_000;

/** The most labels of an object: the API server accepts 256 KiB in total. */
const labelsMax = 5_000;

const text = z.string().max(4_096);
const name = z.string().min(1).max(253);
const textMap = z
  .record(z.string().min(1).max(400), text)
  .refine((map) => Object.keys(map).length <= labelsMax, { error: `expected ${labelsMax} members at most` });
const texts = z.array(text).max(itemsMax);
const portNumber = z.union([z.number(), text]).nullable();
const port = z.union([
  z.tuple([text.nullable()]),
  z.tuple([text.nullable(), portNumber]),
  z.tuple([text.nullable(), portNumber, z.number()]),
]);
const owner = z.union([
  z.tuple([name, name, text]),
  z.tuple([name, name, text, z.union([z.literal(0), z.literal(1)])]),
]);
const moniker = z.strictObject({
  a: text.optional(),
  c: text.optional(),
  s: text.optional(),
  d: text.optional(),
  q: z.int().min(0).optional(),
});

/** Facts in the form of `EncodedFacts`, of a V2 account, from an untrusted sender. */
export const encodedFactsSchema = z.strictObject({
  v: z.int(),
  k: name,
  K: z.enum(spinnakerKinds).optional(),
  a: text.optional(),
  s: text.optional(),
  n: name,
  u: text,
  r: text,
  t: z.number().optional(),
  l: textMap.optional(),
  m: moniker.optional(),
  o: z.array(owner).max(itemsMax).optional(),
  w: z
    .strictObject({
      r: z.int().min(0).optional(),
      i: texts,
      l: textMap.optional(),
      b: texts.optional(),
      s: text.optional(),
    })
    .optional(),
  p: z.strictObject({ s: text.optional(), c: texts }).optional(),
  f: textMap.optional(),
  i: texts.optional(),
  x: z.tuple([z.array(port).max(itemsMax), z.array(port).max(itemsMax)]).optional(),
});
