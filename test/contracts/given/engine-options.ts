import { parseArgs } from 'node:util';
import { InvalidInputError } from '#core/errors.ts';
import type { QueueGap } from '../queue-engine.ts';

/** What an SQS may lack, as `--gaps` names it. */
export const queueGaps: readonly QueueGap[] = [
  ...(['fairGroups', 'attributePrefixes', 'oldReceipts', 'emptyBatch', 'errorNames'] as const),
];

/** What `npm run test:engine` can be told. */
export interface EngineOptions {
  readonly help: boolean;
  /** URL of a DynamoDB. */
  readonly dynamodb?: string;
  /** URL of an SQS. */
  readonly sqs?: string;
  /** What is not asked of the SQS. */
  readonly gaps: readonly QueueGap[];
}

/**
 * The options of a command line.
 *
 * @throws InvalidInputError that names the option and what was expected
 */
export function parseEngineOptions(args: readonly string[]): EngineOptions {
  const text = { type: 'string' } as const;
  const options = { help: { type: 'boolean' }, dynamodb: text, sqs: text, gaps: text } as const;
  const { values } = parseArgs({ args: [...args], options });
  const { dynamodb, sqs, help = false } = values;
  for (const [name, url] of Object.entries({ dynamodb, sqs })) {
    if (url !== undefined && !URL.canParse(url)) throw new InvalidInputError(`--${name}: expected a URL`);
  }
  if (!help && dynamodb === undefined && sqs === undefined) {
    throw new InvalidInputError('expected --dynamodb or --sqs, or both');
  }
  const gaps = (values.gaps ?? '')
    .split(',')
    .filter((name) => name !== '')
    .map(toGap);
  return { help, gaps, ...(dynamodb !== undefined && { dynamodb }), ...(sqs !== undefined && { sqs }) };
}

function toGap(name: string): QueueGap {
  const gap = queueGaps.find((each) => each === name);
  if (gap !== undefined) return gap;
  throw new InvalidInputError(`--gaps: expected some of ${queueGaps.join(', ')}`);
}

/** What `--help` prints. */
export const engineHelp = `npm run test:engine -- [options]

Holds a DynamoDB or an SQS of yours, or what stands in for one (ScyllaDB Alternator, ElasticMQ …), to all that Busdriver needs of it: the suites
of test/contracts/. It makes tables and queues whose names begin with busdriver-test- and test-, and deletes the tables.

  --dynamodb <url>  where it answers
  --sqs <url>       where it answers
  --gaps <names>    what is not asked of the SQS, each a gap that Busdriver can live with:
                    ${queueGaps.join(', ')}
  --help            prints this

Calls are signed with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY where these are set, else with 'local', for AWS_REGION or us-east-1.`;
