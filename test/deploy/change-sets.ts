import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { localAccountId, localRegion } from '#infra/server/functions/local-aws.ts';
import { callQuery, putObject } from './aws-calls.ts';

const pollIntervalMs = 200;
const timeoutMs = 120_000;

/** The bucket that `cdk bootstrap` makes. */
const bucket = `cdk-hnb659fds-assets-${localAccountId}-${localRegion}`;

/** A stack of an assembly. */
export interface AssemblyStack {
  readonly name: string;
  /** Its template, as it is written. */
  readonly template: string;
  /** Templates of stacks within it, by the keys under which its template finds them in the bucket. */
  readonly nested: ReadonlyMap<string, string>;
  /** Keys of the code of functions. */
  readonly code: readonly string[];
}

/** The stacks of an assembly, each behind those that it depends on: in this order the app makes them. */
export async function readAssembly(assembly: string): Promise<readonly AssemblyStack[]> {
  const read = (name: string) => readFile(path.join(assembly, name), 'utf8');
  const manifest: Manifest = JSON.parse(await read('manifest.json'));
  const stacks = Object.entries(manifest.artifacts).filter(([, { type }]) => type === stackType);
  return Promise.all(
    stacks.map(async ([name, { properties: { templateFile = '' } = {} }]) => {
      const { files }: AssetManifest = JSON.parse(await read(`${name}.assets.json`));
      const nested = Object.entries(files).filter(([, { source }]) => source.path.endsWith(nestedEnding));
      const texts = nested.map(
        async ([key, { source }]) => [`${key}.json`, await read(source.path)] as const,
      );
      const code = Object.keys(files).filter((key) => files[key]?.source.packaging === 'zip');
      return { name, template: await read(templateFile), nested: new Map(await Promise.all(texts)), code };
    }),
  );
}

interface Manifest {
  readonly artifacts: {
    readonly [name: string]: {
      readonly type: string;
      readonly properties?: { readonly templateFile?: string };
    };
  };
}

interface AssetManifest {
  readonly files: {
    readonly [hash: string]: { readonly source: { readonly path: string; readonly packaging: string } };
  };
}

const stackType = 'aws:cloudformation:stack';
const nestedEnding = '.nested.template.json';

/**
 * Brings deployed stacks from one assembly to another, as `cdk deploy` does: by change sets, a stack behind those that it depends on,
 * and only those whose template differs, or that read a parameter that may have another value by now. It is there since `cdk
 * deploy` takes ten times as long, most of which it waits. Code of functions is not uploaded.
 *
 * @returns names of the stacks that CloudFormation has changed
 * @throws Error when CloudFormation refuses a change set or cannot carry it out, with its reason
 */
export async function applyChanges(
  endpoint: string,
  before: readonly AssemblyStack[],
  after: readonly AssemblyStack[],
): Promise<readonly string[]> {
  const deployed = new Map(before.map((stack) => [stack.name, stack.template]));
  const changed: string[] = [];
  for (const stack of after) {
    const template = deployed.get(stack.name);
    const mayDiffer = changed.length > 0 && stack.template.includes('AWS::SSM::Parameter::Value');
    if (template === stack.template && !mayDiffer) continue;
    if (await applyChange(endpoint, stack)) changed.push(stack.name);
  }
  return changed;
}

/** @returns whether there was anything to change */
async function applyChange(endpoint: string, { name, template, nested }: AssemblyStack): Promise<boolean> {
  const key = `${name}-${Date.now()}.json`;
  for (const [nestedKey, text] of nested) await putObject(endpoint, `/${bucket}/${nestedKey}`, text);
  await putObject(endpoint, `/${bucket}/${key}`, template);
  const StackName = name;
  const call = (action: string, input: { readonly [name: string]: string } = {}) =>
    callQuery(endpoint, { service: 'cloudformation', action, input: { StackName, ...input } });
  const isThere = await call('DescribeStacks').then(
    (answer) => !getElement(answer, 'StackStatus').startsWith('DELETE_'),
    () => false,
  );
  const ChangeSetName = `change-${Date.now()}`;
  await call('CreateChangeSet', {
    ChangeSetName,
    ChangeSetType: isThere ? 'UPDATE' : 'CREATE',
    TemplateURL: `https://s3.${localRegion}.amazonaws.com/${bucket}/${key}`,
    'Capabilities.member.1': 'CAPABILITY_IAM',
    'Capabilities.member.2': 'CAPABILITY_NAMED_IAM',
    'Capabilities.member.3': 'CAPABILITY_AUTO_EXPAND',
  });
  const made = await poll(
    () => call('DescribeChangeSet', { ChangeSetName }),
    (answer) => !/_(PENDING|IN_PROGRESS)$/.test(getElement(answer, 'Status')),
  );
  if (getElement(made, 'Status') !== 'CREATE_COMPLETE') {
    const reason = getElement(made, 'StatusReason');
    if (/didn.{1,6}t contain changes/.test(reason)) return false;
    throw new Error(`${name}: CloudFormation refused the change set: ${reason}`);
  }
  await call('ExecuteChangeSet', { ChangeSetName });
  const done = await poll(
    () => call('DescribeStacks'),
    (answer) => !getElement(answer, 'StackStatus').endsWith('_IN_PROGRESS'),
  );
  const status = getElement(done, 'StackStatus');
  if (/^(CREATE|UPDATE)_COMPLETE$/.test(status)) return true;
  throw new Error(`${name}: ${status}: ${await findFailure(call)}`);
}

/** Why a stack could not be changed: what its events say of the first failure since the last beginning. */
async function findFailure(call: (action: string) => Promise<string>): Promise<string> {
  const events = (await call('DescribeStackEvents')).split('<member>');
  const failures = events.filter((event) => getElement(event, 'ResourceStatus').endsWith('_FAILED'));
  return failures
    .map((event) => `${getElement(event, 'LogicalResourceId')}: ${getElement(event, 'ResourceStatusReason')}`)
    .slice(0, 3)
    .join('; ');
}

async function poll(look: () => Promise<string>, isOver: (answer: string) => boolean): Promise<string> {
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    const answer = await look();
    if (isOver(answer)) return answer;
    if (performance.now() > endsAtMs) throw new Error(`CloudFormation did not finish: ${answer}`);
    await sleep(pollIntervalMs);
  }
}

/** The text of the first element of a name; empty when there is none. */
function getElement(xml: string, name: string): string {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '';
}
