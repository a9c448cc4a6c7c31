import { isDeepStrictEqual } from 'node:util';
import type { RejectedAccount } from '#accounts/model/account.ts';
import type { Config, Environment } from '#platform/config.ts';
import type { SettingsInspector } from '#provider-kit/provider.ts';
import { plugins } from '#providers/index.ts';
import type { SecretReader } from '../secret-reference.ts';
import type { ParsedSettings } from './live-providers.ts';
import { type CredentialTexts, parseCredentialTexts, readCredentialTexts } from './settings-source.ts';

/** What was read: texts, and the inspectors' findings about what they name. Comparing it shows a change of either. */
export interface ReadCredentials {
  readonly texts: CredentialTexts;
  readonly refusedAccounts: readonly RejectedAccount[];
}

/** Where settings with credentials come from. */
export interface CredentialSourceOptions {
  readonly config: Config;
  readonly secrets: SecretReader;
  readonly environment: Environment;
  /** Whether artifact accounts must be separate: others are left out. */
  readonly isDivided: boolean;
}

/** Settings with credentials, which are read repeatedly; unchanged texts are parsed once. */
export class CredentialSource {
  readonly #options: CredentialSourceOptions;
  #inspectors: Promise<readonly SettingsInspector[]> | undefined;
  #last: { readonly texts: CredentialTexts; readonly outcome: Outcome } | undefined;

  constructor(options: CredentialSourceOptions) {
    this.#options = options;
  }

  /** Reads files and secrets, and inspects what they name. @throws what `readCredentialTexts` throws. */
  async read(): Promise<ReadCredentials> {
    const texts = await readCredentialTexts(this.#options.config, this.#options.secrets);
    const { parsed } = this.#getOutcome(texts);
    return { texts, refusedAccounts: parsed === undefined ? [] : await this.#inspect(parsed) };
  }

  /** The configuration of what was read. @throws what `parseCredentialTexts` throws. */
  parse({ texts, refusedAccounts }: ReadCredentials): ParsedSettings {
    const { parsed, error } = this.#getOutcome(texts);
    if (parsed === undefined) throw error;
    return { ...parsed, refusedAccounts };
  }

  #getOutcome(texts: CredentialTexts): Outcome {
    if (this.#last === undefined || !isDeepStrictEqual(texts, this.#last.texts)) {
      this.#last = { texts, outcome: this.#tryParse(texts) };
    }
    return this.#last.outcome;
  }

  #tryParse(texts: CredentialTexts): Outcome {
    const { config, environment, isDivided } = this.#options;
    try {
      return { parsed: parseCredentialTexts(texts, { profiles: config.profiles, environment, isDivided }) };
    } catch (error) {
      return { error };
    }
  }

  async #inspect({ settings }: ParsedSettings): Promise<readonly RejectedAccount[]> {
    this.#inspectors ??= Promise.all(plugins.flatMap((plugin) => plugin.loadInspector?.() ?? []));
    const { config, environment } = this.#options;
    const options = { placement: config.placement, environment };
    const found = (await this.#inspectors).map((inspector) => inspector.findUnusable(settings, options));
    return (await Promise.all(found)).flat();
  }
}

/** The outcome of parsing texts: settings, or an error. */
interface Outcome {
  readonly parsed?: ParsedSettings;
  readonly error?: unknown;
}
