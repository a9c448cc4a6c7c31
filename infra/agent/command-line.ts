import { parseArgs } from 'node:util';
import { getErrorMessage } from '#core/errors.ts';
import packageJson from '#package.json' with { type: 'json' };
import { findNearestKey } from '#settings/nearest-key.ts';

const help = `Usage: node dist/agent/main.js --config FILE [options]

Runs operations and live reads of accounts whose clusters Busdriver cannot reach: it asks Busdriver for them, and is never
called. FILE is YAML: busdriver-agent.yaml, or armory-agent.yaml as Armory's agent has it. See docs/agents.md.

  --config FILE   the configuration of the agent
  --url URL       address of Busdriver; overrides busdriver.url
  --check         check whether it would work: token, Busdriver, clusters, rights, clock; print a table, and end
  --version       print the version
  --help          print this help

HTTPS_PROXY, HTTP_PROXY and NO_PROXY apply to Busdriver and to clusters; noProxy in FILE bypasses them.
SIGTERM lets running operations reach a safe point and ends, within 20 seconds; another agent goes on. A second one ends at once.
Exit codes: 0 ended normally, or nothing is missing; 1 could not run, or --check found something; 2 wrong command line.`;

const flags = {
  config: { type: 'string' },
  url: { type: 'string' },
  check: { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** The request of a command line. */
export type AgentCommand =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'run' | 'check'; readonly config: string; readonly url: string | undefined };

/** Reads the command line. @param args without the program's own name */
export function parseCommandLine(args: readonly string[]): AgentCommand {
  const unknown = findUnknown(args);
  if (unknown !== undefined) return { kind: 'refused', reason: unknown };
  try {
    const { values } = parseArgs({ args: [...args], options: flags });
    if (values.help) return { kind: 'text', text: help };
    if (values.version) return { kind: 'text', text: packageJson.version };
    if (!values.config) return { kind: 'refused', reason: '--config FILE is missing' };
    return { kind: values.check ? 'check' : 'run', config: values.config, url: values.url };
  } catch (error) {
    return { kind: 'refused', reason: getErrorMessage(error) };
  }
}

/** `parseArgs` explains an unknown option by a rule of its own; here the nearest name helps more. */
function findUnknown(args: readonly string[]): string | undefined {
  const { tokens } = parseArgs({ args: [...args], options: flags, strict: false, tokens: true });
  const names = Object.keys(flags);
  for (const token of tokens) {
    if (token.kind !== 'option' || names.includes(token.name)) continue;
    const nearest = findNearestKey(token.name, names);
    return `Unknown option '${token.rawName}'${nearest === undefined ? '' : `: did you mean --${nearest}?`}`;
  }
  return undefined;
}
