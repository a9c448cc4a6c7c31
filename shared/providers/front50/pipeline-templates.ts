import { InvalidInputError, NotFoundError, UnavailableError } from '../../core/errors.ts';
import type { Artifact } from '../../core/providers/artifact.ts';
import type { ArtifactAccount, ArtifactFetcher } from '../../core/providers/provider.ts';
import type { Front50Client } from './client.ts';

const templateType = 'front50/pipelineTemplate';

/** The account is built in, under Clouddriver's name: references of pipelines name it. */
const account: ArtifactAccount = {
  name: 'front50ArtifactCredentials',
  type: 'artifacts-front50',
  types: [templateType],
};

const scheme = 'spinnaker://';
const digestMark = '@sha256:';

/** Largest pipeline template, bytes. */
export const templateBytesMax = 4 * 2 ** 20;

/** Templates that are fetched at a time, each of which is in memory as a whole. */
export const templatesAtOnceMax = 32;

/** A pipeline template: with neither tag nor digest its latest version. */
interface TemplateReference {
  readonly id: string;
  /** Empty for none. */
  readonly tag: string;
  /** Hexadecimal digits of its SHA-256; empty for none. */
  readonly digest: string;
}

/**
 * Fetches pipeline templates of version 2 from Front50, as Orca asks for those that pipelines refer to.
 *
 * @param client takes answers of `templateBytesMax` at most.
 */
export function createTemplateFetcher(client: Front50Client): ArtifactFetcher {
  let fetching = 0;

  async function fetchText(template: TemplateReference, signal: AbortSignal): Promise<string> {
    const text = await client.findObjectText(toPath(template), signal);
    if (text !== undefined) return text;
    throw new NotFoundError(`Front50 has no pipeline template ${describe(template)}`);
  }

  return {
    accounts: [account],
    async fetch(artifact, signal) {
      const template = parseTemplateReference(artifact);
      if (fetching >= templatesAtOnceMax) {
        throw new UnavailableError(`${templatesAtOnceMax} pipeline templates are being fetched already`);
      }
      fetching += 1;
      try {
        return { body: streamOnce(new TextEncoder().encode(await fetchText(template, signal))) };
      } finally {
        fetching -= 1;
      }
    },
  };
}

/**
 * Reads `spinnaker://id`, `spinnaker://id:tag` or `spinnaker://id@sha256:digest`.
 *
 * @throws InvalidInputError for anything else
 */
export function parseTemplateReference({ reference = '' }: Artifact): TemplateReference {
  if (!reference.startsWith(scheme)) {
    throw new InvalidInputError(
      `reference: expected one that begins with ${scheme} for an artifact of type ${templateType}`,
    );
  }
  const text = reference.slice(scheme.length);
  const mark = text.includes(digestMark) ? digestMark : ':';
  const [id = '', version, ...rest] = text.split(mark);
  const isWhole = id !== '' && version !== '' && rest.length === 0 && id !== '.' && id !== '..';
  if (!isWhole) {
    throw new InvalidInputError(
      `reference: expected ${scheme}id, ${scheme}id:tag or ${scheme}id${digestMark}digest for an artifact of type ${templateType}`,
    );
  }
  if (mark === ':') return { id, tag: version ?? '', digest: '' };
  return { id, tag: '', digest: version ?? '' };
}

/** As Clouddriver asks: with both parameters, empty where they are not meant. */
function toPath({ id, tag, digest }: TemplateReference): string {
  return `v2/pipelineTemplates/${encodeURIComponent(id)}?${new URLSearchParams({ tag, digest })}`;
}

function describe({ id, tag, digest }: TemplateReference): string {
  if (digest !== '') return `${id} with the digest ${digest}`;
  return tag === '' ? id : `${id} with the tag ${tag}`;
}

async function* streamOnce(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}
