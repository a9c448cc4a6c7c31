import type { ExecPlugin } from '../credentials/kubeconfig.ts';
import type { EksCluster } from '../eks/eks-service.ts';

/** What an exec plugin for EKS would make a token for. */
export interface EksPlugin {
  readonly cluster: EksCluster;
  /** Its options and variables that only the program itself understands; empty if we can replace it. */
  readonly unknown: readonly string[];
}

/** What we know of a program that makes tokens. */
interface Program {
  /** Words that make it print a token. */
  readonly words: readonly string[];
  /** The meaning of each option's value; `ignored` for irrelevant ones. */
  readonly options: Readonly<Record<string, keyof EksCluster | 'ignored'>>;
  /** Irrelevant options without a value. */
  readonly flags: readonly string[];
  /** The name that it gives a role's session. */
  readonly sessionName?: string;
}

const programs: Readonly<Record<string, Program>> = {
  aws: {
    words: ['eks', 'get-token'],
    options: {
      '--cluster-name': 'name',
      '--cluster-id': 'name',
      '--region': 'region',
      '--role-arn': 'roleArn',
      '--profile': 'profile',
      '--output': 'ignored',
    },
    flags: [],
    sessionName: 'EKSGetTokenAuth',
  },
  'aws-iam-authenticator': {
    words: ['token'],
    options: {
      '--cluster-id': 'name',
      '-i': 'name',
      '--region': 'region',
      '--role': 'roleArn',
      '-r': 'roleArn',
      '--session-name': 'sessionName',
      '-s': 'sessionName',
      '--external-id': 'externalId',
      '-e': 'externalId',
    },
    flags: ['--cache'],
  },
};

/** What each variable of the plugin's environment sets. */
const variables: Readonly<Record<string, keyof EksCluster>> = {
  AWS_DEFAULT_REGION: 'region',
  AWS_REGION: 'region',
  AWS_PROFILE: 'profile',
};

/**
 * Reads an exec plugin that is `aws eks get-token` or `aws-iam-authenticator token`; undefined for any other.
 *
 * @param environment the environment that the plugin would inherit.
 */
export function parseEksPlugin(
  { command, args, env }: ExecPlugin,
  environment: Readonly<Record<string, string | undefined>>,
): EksPlugin | undefined {
  const name = command.replace(/^.*[\\/]/, '').replace(/\.exe$/i, '');
  const program = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (!program?.words.every((word) => args.includes(word))) return undefined;
  const told = readArguments(args, program);
  const inherited = readVariables(env);
  const unknown = [...told.unknown, ...inherited.unknown];
  const values = {
    region: environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'],
    ...inherited.values,
    ...told.values,
  };
  // Like AWS' programs, prefer keys in the environment to a profile named there.
  if (!told.values.profile && environment['AWS_ACCESS_KEY_ID']) values.profile = undefined;
  if (!values.name) return { cluster: { name: '' }, unknown: [...unknown, 'no name of a cluster'] };
  const sessionName = values.sessionName ?? program.sessionName;
  return { cluster: { ...values, name: values.name, ...(sessionName && { sessionName }) }, unknown };
}

interface Told {
  readonly values: { -readonly [key in keyof EksCluster]?: string | undefined };
  readonly unknown: string[];
}

function readArguments(args: readonly string[], { options, flags, words }: Program): Told {
  const told: Told = { values: {}, unknown: [] };
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index] ?? '';
    const [, option = argument, inline] = /^(--[^=]+)=(.*)$/s.exec(argument) ?? [];
    if (flags.includes(argument) || words.includes(argument)) continue;
    const key = Object.hasOwn(options, option) ? options[option] : undefined;
    if (key === undefined) told.unknown.push(nameUnknown(option));
    else if (inline === undefined) index += 1;
    if (key !== undefined && key !== 'ignored') told.values[key] = inline ?? args[index];
  }
  return told;
}

/** An argument as errors show it. If it is not an option, it may be the value of an unknown one, and so a secret. */
function nameUnknown(argument: string): string {
  if (argument.startsWith('--')) return argument;
  return argument.startsWith('-') ? argument.slice(0, 2) : 'a further argument';
}

function readVariables(env: Readonly<Record<string, string>>): Told {
  const told: Told = { values: {}, unknown: [] };
  for (const [name, value] of Object.entries(env)) {
    const key = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (name === 'AWS_STS_REGIONAL_ENDPOINTS' && value === 'regional') continue;
    if (key === undefined) told.unknown.push(name);
    else if (value !== '') told.values[key] = value;
  }
  return told;
}
