import type { AccountWarning } from '#accounts/model/account.ts';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { booleanField, parseWith, settingsField, stringField } from '#settings/coerce.ts';
import { isPlainUrl } from '#settings/public-settings.ts';
import { getSetting } from '#settings/spring-config.ts';

/** The place of the artifact store, an S3 bucket. */
export interface ArtifactStoreSettings {
  readonly bucket: string;
  /** Default: the region of the process. */
  readonly region: string | undefined;
  /** Another server with S3's protocol. Default: Amazon's. */
  readonly url: string | undefined;
  /** Credentials for such a server. Default: requests to it are not signed. */
  readonly key: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

/** The section of the settings. */
export const artifactStorePath = 'artifactStore';

const storeField = settingsField({
  enabled: booleanField(),
  type: stringField(),
  s3: settingsField({
    bucket: stringField(),
    region: stringField(),
    url: stringField(),
    accessKey: stringField(),
    secretKey: stringField(),
  }),
});

/**
 * The artifact store of a configuration, by the names of Spinnaker's other services, which share it: on where `artifact-store.type` is
 * `s3`, unless `artifact-store.enabled` is false.
 *
 * @returns undefined where it is off.
 * @throws InvalidInputError, which names the setting and quotes none.
 */
export function parseArtifactStore(settings: JsonObject): ArtifactStoreSettings | undefined {
  const store = parseWith(storeField, getSetting(settings, artifactStorePath), artifactStorePath);
  const { enabled, type = '', s3 } = { ...store };
  if (enabled === false || (enabled === undefined && type === '')) return undefined;
  if (type !== 's3') throw new InvalidInputError(`${artifactStorePath}.type: expected s3`);
  const { bucket = '', region, url, accessKey, secretKey } = { ...s3 };
  const at = `${artifactStorePath}.s3`;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket)) {
    throw new InvalidInputError(`${at}.bucket: expected the name of a bucket, 3 to 63 characters`);
  }
  if (Boolean(accessKey) !== Boolean(secretKey)) {
    throw new InvalidInputError(`${at}: expected both accessKey and secretKey, or neither`);
  }
  if (accessKey && !url) throw new InvalidInputError(`${at}.accessKey: expected only beside url`);
  return {
    bucket,
    region: region || undefined,
    url: url ? parseOrigin(url, `${at}.url`) : undefined,
    key: accessKey && secretKey ? { accessKeyId: accessKey, secretAccessKey: secretKey } : undefined,
  };
}

function parseOrigin(text: string, at: string): string {
  const url = isPlainUrl(text) ? URL.parse(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/') return url.origin;
  throw new InvalidInputError(`${at}: expected an origin such as https://s3.example.com:9000`);
}

/**
 * Problems of the store's settings when they are loaded: that they cannot be followed.
 *
 * @param isDivided whether functions that read the store have no secrets
 */
export function listArtifactStoreProblems(
  settings: JsonObject,
  isDivided: boolean,
): readonly AccountWarning[] {
  try {
    const store = parseArtifactStore(settings);
    if (store?.key === undefined || !isDivided) return [];
    return [
      warn(
        `${artifactStorePath}.s3.accessKey: of no effect when deployed: functions that read the store are not told it, and do not sign what they ask of its url`,
      ),
    ];
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return [warn(error.message)];
  }
}

function warn(reason: string): AccountWarning {
  return { message: 'artifact store', reason };
}
