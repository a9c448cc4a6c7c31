import { formatHelp, optional, parseOptions, read, UsageError, type Values } from '#infra/options.ts';
import type { QueueGap } from '../queue-engine.ts';

/** What an SQS may lack, as `--gaps` names it. */
export const queueGaps: readonly QueueGap[] = [
  ...(['fairGroups', 'oldReceipts', 'emptyBatch', 'errorNames'] as const),
];

const options = {
  dynamodb: optional('--dynamodb <URL>', 'where it answers', parseUrl),
  sqs: optional('--sqs <URL>', 'where it answers', parseUrl),
  gaps: optional(
    '--gaps <NAMES>',
    `what is not asked of the SQS, each a gap that Busdriver can live with: ${queueGaps.join(', ')}`,
    (text, flag) => (text === '' ? [] : read.someOf(queueGaps)(text, flag)),
  ),
};

const program = {
  name: 'npm run test:engine --',
  about:
    'Holds a DynamoDB or an SQS of yours, or what stands in for one (ScyllaDB Alternator, ElasticMQ …), to all that Busdriver needs ' +
    'of it: the suites of test/contracts/. It makes tables and queues whose names begin with busdriver-test- and test-, and deletes ' +
    'the tables.',
  options,
  notes: [
    '',
    "Calls are signed with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY where these are set, else with 'local', for AWS_REGION or us-east-1.",
  ],
};

/** What `npm run test:engine` can be told. */
export interface EngineOptions extends Omit<Values<typeof options>, 'gaps'> {
  readonly gaps: readonly QueueGap[];
}

/**
 * The options of a command line.
 *
 * @throws UsageError that names the option and what was expected
 */
export function parseEngineOptions(args: readonly string[]): EngineOptions {
  const values = parseOptions(program, args);
  if (!values.help && values.dynamodb === undefined && values.sqs === undefined) {
    throw new UsageError('expected --dynamodb or --sqs, or both');
  }
  return { ...values, gaps: values.gaps ?? [] };
}

function parseUrl(text: string, flag: string): string {
  if (URL.canParse(text)) return text;
  throw new UsageError(`${flag}: expected a URL`);
}

/** What `--help` prints. */
export const engineHelp = formatHelp(program);
