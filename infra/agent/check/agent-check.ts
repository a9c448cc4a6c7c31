import { type AccountGrant, type Hello, type Welcome, welcomeSchema } from '#agents/protocol/messages.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonArray, asJsonObject, getPath, type JsonValue } from '#core/json.ts';
import { narrowAccount } from '../config/account-limits.ts';
import type { AgentAccount, AgentConfig } from '../config/agent-config.ts';
import { type HubClient, HubRefusalError } from '../hub/hub-client.ts';
import { type ProofSource, toOpeningCall } from '../hub/proof-source.ts';
import type { CheckRow } from './check-table.ts';
import { type ClusterCheckOptions, checkCluster } from './cluster-check.ts';
import { checkToken } from './token-check.ts';

/** Clusters that are looked at at a time. */
const clustersAtOnce = 8;

/** Milliseconds by which the clock may differ: tokens that are hardly old enough, or nearly over, are refused beyond it. */
const skewMaxMs = 60_000;

/** Dependencies of checking an agent. */
export interface AgentCheckOptions extends ClusterCheckOptions {
  readonly config: AgentConfig;
  readonly client: Pick<HubClient, 'call'>;
  readonly proof: ProofSource;
  readonly hello: Hello;
}

/** Looks whether an agent with this file would work: its token, Busdriver, each cluster. Changes nothing. Never rejects. */
export async function checkAgent(options: AgentCheckOptions): Promise<readonly CheckRow[]> {
  const { config, clock, proof } = options;
  const { rows, grants } = await checkSession(options);
  const clusters = await mapConcurrently(config.accounts, clustersAtOnce, (account) =>
    checkCluster(account, findNamespace(account, grants.get(account.name)), options),
  );
  return [...checkFile(config), await checkToken(proof, clock.now()), ...rows, ...clusters.flat()];
}

function checkFile({ accounts, keys, proof, tls, transport }: AgentConfig): readonly CheckRow[] {
  const notes = [...keys.unknown, ...keys.unused];
  if (proof.kind === 'text')
    notes.push('clouddriver.auth.token: a token in a file has to be replaced by hand');
  if (tls.skipsVerification)
    notes.push('clouddriver.tls.insecureSkipVerify: anybody may pretend to be Busdriver');
  for (const { name, insecure } of accounts)
    if (insecure) notes.push(`account ${name}: insecure: anybody may pretend to be its API server`);
  return [
    { what: 'file', verdict: 'good', details: `${accounts.length} accounts, transport ${transport}` },
    ...notes.map((details): CheckRow => ({ what: 'file', verdict: 'note', details })),
  ];
}

/** Findings of opening a session, which is closed at once. */
interface SessionFindings {
  readonly rows: readonly CheckRow[];
  readonly grants: ReadonlyMap<string, AccountGrant>;
}

async function checkSession({
  client,
  proof,
  hello,
  clock,
  config,
}: AgentCheckOptions): Promise<SessionFindings> {
  const what = `Busdriver at ${new URL(config.url).host}`;
  try {
    const answer = await client.call(await toOpeningCall(proof, hello));
    const welcome = welcomeSchema.parse(answer.body);
    const path = `/agent/v1/sessions/${welcome.session}`;
    await client.call({ method: 'DELETE', path, token: welcome.token });
    return {
      rows: [
        { what, verdict: 'good', details: 'a session was opened, and closed again' },
        checkSkew(clock.now() - welcome.serverMs),
        ...welcome.accounts.map(toGrantRow),
      ],
      grants: new Map(welcome.accounts.map((grant) => [grant.name, grant])),
    };
  } catch (error) {
    const reached = error instanceof HubRefusalError ? 'reached, but no session: ' : '';
    return {
      rows: [{ what, verdict: 'bad', details: `${reached}${getErrorMessage(error)}` }],
      grants: new Map(),
    };
  }
}

function checkSkew(skewMs: number): CheckRow {
  const isGood = Math.abs(skewMs) <= skewMaxMs;
  const details = `${Math.abs(Math.round(skewMs / 1_000))} s ${skewMs < 0 ? 'behind' : 'ahead of'} Busdriver's`;
  return { what: 'clock', verdict: isGood ? 'good' : 'bad', details };
}

function toGrantRow({ name, refused, operations, caching }: Welcome['accounts'][number]): CheckRow {
  const what = `account ${name}`;
  if (refused !== undefined) return { what, verdict: 'bad', details: refused };
  const granted = [operations && 'operations', caching && 'caching'].filter(Boolean);
  return { what, verdict: 'good', details: `granted: ${granted.join(', ') || 'nothing'}` };
}

/** A namespace of the account, where it may not use all. */
function findNamespace({ limits }: AgentAccount, grant: AccountGrant | undefined): string {
  const definition = asJsonObject(getPath(parse(grant?.definition), 'account')) ?? {};
  try {
    const [namespace] = asJsonArray(narrowAccount(definition, limits)['namespaces']);
    return typeof namespace === 'string' ? namespace : '';
  } catch {
    // The agent says that when it opens the account.
    return '';
  }
}

function parse(text: string | undefined): JsonValue {
  return text === undefined ? null : (JSON.parse(text) as JsonValue);
}
