import { parseArgs } from 'node:util';

/** What the command line says. */
export interface CheckOptions {
  /** Options of the app, as texts. */
  readonly context: { readonly [name: string]: string };
  readonly profile: string | undefined;
  readonly region: string | undefined;
  readonly json: boolean;
  readonly readsValues: boolean;
  readonly printsPolicy: boolean;
  readonly help: boolean;
}

/** The command line is wrong; the message says where, and what is expected. */
export class CheckUsageError extends Error {
  override readonly name = 'CheckUsageError';
}

interface Flag {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: boolean;
  /** How it is shown. */
  readonly usage: string;
  readonly help: string;
}

const flags = {
  context: {
    type: 'string',
    short: 'c',
    multiple: true,
    usage: '-c, --context NAME=VALUE',
    help: 'an option of the stacks, as for cdk deploy (repeatable)',
  },
  profile: {
    type: 'string',
    usage: '--profile NAME',
    help: "a profile of the AWS CLI (default AWS_PROFILE's)",
  },
  region: {
    type: 'string',
    usage: '--region REGION',
    help: "the region to look at (default AWS_REGION, then the profile's)",
  },
  'read-secrets': {
    type: 'boolean',
    usage: '--read-secrets',
    help: 'read the secrets that options name, too, and see whether they can be used; shows nothing of them',
  },
  json: {
    type: 'boolean',
    usage: '--json',
    help: 'print JSON: {"tally": …, "rows": [{matter, what, state, found, next}]}',
  },
  'print-policy': {
    type: 'boolean',
    usage: '--print-policy',
    help: 'print the policy of IAM that reading all of it takes, and end',
  },
  help: { type: 'boolean', usage: '--help', help: 'print this help' },
} as const satisfies { readonly [name: string]: Flag };

/** The help, without a line end. */
export function formatCheckHelp(): string {
  return [
    'Usage: npm run deploy:check -- [options]',
    '',
    "Looks at an AWS account before a deploy: who you are, CDK's bootstrap, permissions, VPC, endpoint, certificate, name, key, secrets,",
    'quotas, and what an earlier installation left. It takes the options of the stacks from the command line, cdk.context.json and',
    'cdk.json, as cdk deploy does. It only reads: nothing in the account is made or changed.',
    '',
    ...Object.values<Flag>(flags).map(({ usage, help }) => `  ${usage.padEnd(26)} ${help}`),
    '',
    'Each line of the report says what was looked at and found: ok, worth knowing (note), to be mended before the deploy (MEND), or not',
    'checked, with the permission that was missing. Below stands what to do next.',
    '',
    'Examples:',
    '  npm run deploy:check',
    '  npm run deploy:check -- -c stage=prod -c vpcEndpointIds=vpce-0123456789abcdef0 --profile production',
    '  npm run deploy:check --silent -- --json > report.json',
    '',
    'Exit codes: 0 nothing to mend, 1 something to mend or no credentials, 2 wrong command line or options.',
  ].join('\n');
}

/** Parses the arguments. @throws CheckUsageError */
export function parseCheckOptions(args: readonly string[]): CheckOptions {
  try {
    const { values } = parseArgs({ args: [...args], options: flags, allowPositionals: false });
    return {
      context: Object.fromEntries((values.context ?? []).map(parseContext)),
      profile: values.profile,
      region: values.region,
      json: values.json ?? false,
      readsValues: values['read-secrets'] ?? false,
      printsPolicy: values['print-policy'] ?? false,
      help: values.help ?? false,
    };
  } catch (error) {
    if (error instanceof TypeError) throw new CheckUsageError(error.message);
    throw error;
  }
}

function parseContext(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new CheckUsageError(`--context: expected NAME=VALUE, not ${JSON.stringify(text)}`);
}
