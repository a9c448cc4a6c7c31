import { InvalidInputError } from '#core/errors.ts';
import { type AnswerBody, readPieces } from '../download/answer-body.ts';
import { findNewestVersion } from './chart-versions.ts';
import { type ChartVersion, helmIndexBytesMax, readChartNames, readChartVersions } from './helm-index.ts';

/** A request for something in the index of a repository of charts. */
export interface HelmQuery {
  readonly host: string;
  /** Name of the chart. Default: request the names of all charts. */
  readonly chart?: string | undefined;
  /** Requests the URLs of a version of the chart, or of the newest one. Default: request its versions. */
  readonly places?: { readonly version: string | undefined };
}

/** @see AnswerModule */
export const location = import.meta.url;

/** @see AnswerModule */
export const bytesMax = helmIndexBytesMax;

/**
 * Reads the index of a repository of charts.
 *
 * @returns names, versions or URLs, in its order.
 * @throws InvalidInputError, in the words of Clouddriver, if it has no such chart or version, and what `readChartVersions` throws.
 */
export async function run({
  body,
  host,
  chart,
  places,
}: HelmQuery & { readonly body: AnswerBody }): Promise<readonly string[]> {
  if (chart === undefined) return readChartNames(readPieces(body), host);
  const versions = (await readChartVersions(readPieces(body), host, chart)) ?? [];
  if (versions.length === 0) {
    throw new InvalidInputError(`Could not find correct entry with artifact name ${chart}`);
  }
  return places === undefined ? versions.map(({ version }) => version) : findPlaces(versions, places.version);
}

function findPlaces(versions: readonly ChartVersion[], version: string | undefined): readonly string[] {
  const wanted = version?.trim() ? version : findNewestVersion(versions.map((chart) => chart.version));
  const urls = versions.filter((chart) => chart.version === wanted).flatMap((chart) => chart.urls);
  if (urls.length > 0) return urls;
  throw new InvalidInputError(`Could not find correct entry with artifact version ${wanted ?? ''}`);
}
