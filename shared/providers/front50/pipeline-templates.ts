import { Readable } from 'node:stream';
import type { ArtifactAccount } from '#contract/answers/artifacts.ts';
import { InvalidInputError, NotFoundError, UnavailableError } from '#core/errors.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { ArtifactFetcher } from '#provider-kit/provider.ts';
import { parseTemplateIds } from './answers.ts';
import type { Front50Client } from './client.ts';
import { createRemembered, type RememberedOptions } from './remembered.ts';

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

/** Templates that are fetched at a time, each of which is held in memory as a whole. */
export const concurrentTemplatesMax = 32;

/** A pipeline template; its latest version if there is neither tag nor digest. */
interface TemplateReference {
  readonly id: string;
  /** Empty for none. */
  readonly tag: string;
  /** Hexadecimal digits of its SHA-256; empty for none. */
  readonly digest: string;
}

interface TemplateFetcherOptions extends Pick<RememberedOptions<unknown>, 'clock' | 'randomness' | 'log'> {
  /** Accepts answers of at most `templateBytesMax`. */
  readonly client: Pick<Front50Client, 'findObjectText'>;
  /** Accepts the list of all templates, each as a whole. */
  readonly listClient: Pick<Front50Client, 'getJson'>;
}

/** The greatest age of the list for users who pick a template, milliseconds: they may have entered it a moment ago. */
const freshForPickersMs = 2_000;

/**
 * Fetches pipeline templates of version 2 from Front50, as Orca requests those that pipelines refer to. As in Clouddriver, its names are
 * the ids of those with scope `global`.
 */
export function createTemplateFetcher(options: TemplateFetcherOptions): ArtifactFetcher {
  const { client, listClient, ...parts } = options;
  let fetching = 0;
  const readIds = createRemembered<readonly string[]>({
    what: 'pipeline templates',
    load: async () => parseTemplateIds(await listClient.getJson('v2/pipelineTemplates?scopes=global')),
    ...parts,
  });

  async function fetchText(template: TemplateReference, signal: AbortSignal): Promise<string> {
    const text = await client.findObjectText(toPath(template), signal);
    if (text !== undefined) return text;
    throw new NotFoundError(`Front50 has no pipeline template ${describe(template)}`);
  }

  return {
    accounts: [account],
    async listNames() {
      const { value } = await readIds(freshForPickersMs);
      if (value !== undefined) return value;
      throw new UnavailableError('Front50, which has the pipeline templates, does not answer; try again');
    },
    async fetch(artifact, signal) {
      const template = parseTemplateReference(artifact);
      if (fetching >= concurrentTemplatesMax) {
        throw new UnavailableError(`${concurrentTemplatesMax} pipeline templates are being fetched already`);
      }
      fetching += 1;
      try {
        return { body: Readable.from([new TextEncoder().encode(await fetchText(template, signal))]) };
      } finally {
        fetching -= 1;
      }
    },
  };
}

/** Reads `spinnaker://id`, `spinnaker://id:tag` or `spinnaker://id@sha256:digest`. @throws InvalidInputError for anything else */
function parseTemplateReference({ reference = '' }: Artifact): TemplateReference {
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

/** As in Clouddriver: with both parameters, empty if they are not used. */
function toPath({ id, tag, digest }: TemplateReference): string {
  return `v2/pipelineTemplates/${encodeURIComponent(id)}?${new URLSearchParams({ tag, digest })}`;
}

function describe({ id, tag, digest }: TemplateReference): string {
  if (digest !== '') return `${id} with the digest ${digest}`;
  return tag === '' ? id : `${id} with the tag ${tag}`;
}
