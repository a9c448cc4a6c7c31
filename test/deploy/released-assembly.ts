import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';

/** An assembly of CDK of an earlier release, without the code of its functions. */
interface PackedAssembly {
  /** Its files by name: manifests and templates. */
  readonly files: { readonly [name: string]: unknown };
  /** Names of functions by the hash of their code. */
  readonly functions: { readonly [hash: string]: string };
}

interface Template {
  readonly Resources?: {
    readonly [id: string]: {
      readonly Type: string;
      readonly Properties?: {
        readonly FunctionName?: string;
        readonly Code?: { readonly S3Key?: string };
      };
    };
  };
}

/** Manifests and templates; not the tree and the findings, which no deploy reads. */
const packed = /^(cdk\.out|manifest\.json|.+\.assets\.json|.+\.template\.json)$/;

/** Functions that have another name by now: what the released ones end in, and the present ones. */
const renamed: readonly (readonly [before: string, now: string])[] = [
  ['drop-agent-hints', 'drop-agent-messages'],
  ['drop-stream-hints', 'drop-stream-messages'],
  ['list-networks', 'list-inventory'],
  ['list-nothing', 'list-inventory'],
];

/** Packs an assembly into a file small enough for the repository. Two functions with the same code are not told apart. */
export async function packAssembly(assembly: string, file: string): Promise<void> {
  const files = await readFiles(assembly);
  const content: PackedAssembly = { files, functions: Object.fromEntries(listFunctions(files)) };
  await writeFile(file, brotliCompressSync(JSON.stringify(content)));
}

/** Where a packed assembly goes. */
export interface Unpacking {
  /** An assembly of the present templates with the same stage. */
  readonly current: string;
  /** A folder that is not there yet. */
  readonly folder: string;
}

/**
 * Unpacks what was packed, as an assembly that can be deployed. The code of its functions is that of the present ones with the same
 * names, or with those they have now: what is looked at are the templates.
 *
 * @throws Error for a function that there is not any more
 */
export async function unpackAssembly(file: string, { current, folder }: Unpacking): Promise<void> {
  const { files, functions }: PackedAssembly = JSON.parse(
    brotliDecompressSync(await readFile(file)).toString(),
  );
  const present = new Map([...listFunctions(await readFiles(current))].map(([hash, name]) => [name, hash]));
  const hashes = new Map(
    Object.entries(functions).map(([hash, name]) => {
      const found = present.get(toPresentName(name));
      if (found === undefined)
        throw new Error(`${path.basename(file)}: there is no function ${name} any more`);
      return [hash, found];
    }),
  );
  await mkdir(folder);
  for (const name of await readdir(current))
    if (name.startsWith('asset.')) await symlink(path.join(current, name), path.join(folder, name));
  for (const [name, content] of Object.entries(files)) {
    const text = JSON.stringify(content).replaceAll(/[0-9a-f]{64}/g, (hash) => hashes.get(hash) ?? hash);
    await writeFile(path.join(folder, name), text);
  }
}

async function readFiles(assembly: string): Promise<PackedAssembly['files']> {
  const names = (await readdir(assembly)).filter((name) => packed.test(name));
  const contents = names.map(async (name) => [name, await readJson(path.join(assembly, name))] as const);
  return Object.fromEntries(await Promise.all(contents));
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8');
  // It names a file that is not packed.
  return JSON.parse(text, (key, value: unknown) => (key === 'additionalMetadataFile' ? undefined : value));
}

function* listFunctions(files: PackedAssembly['files']): Generator<readonly [hash: string, name: string]> {
  for (const [name, content] of Object.entries(files)) {
    if (!name.endsWith('.template.json')) continue;
    for (const { Type, Properties } of Object.values((content as Template).Resources ?? {})) {
      const { FunctionName, Code } = Properties ?? {};
      if (Type !== 'AWS::Lambda::Function' || FunctionName === undefined) continue;
      yield [path.basename(Code?.S3Key ?? '', '.zip'), FunctionName];
    }
  }
}

function toPresentName(name: string): string {
  const [before, now] = renamed.find(([end]) => name.endsWith(end)) ?? ['', ''];
  return `${name.slice(0, name.length - before.length)}${now}`;
}
