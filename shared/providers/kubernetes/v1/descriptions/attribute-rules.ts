import { Violations } from '#provider-kit/violations.ts';

/** The form of an attribute of a description, and how Spinnaker shows it. */
export interface TextRule {
  /** Matches a text in time linear in its length. */
  readonly pattern: RegExp;
  /** The pattern in Spinnaker's words, which callers match on. */
  readonly shown: string;
}

/** Longest text to which a rule is applied: no name, path or quantity of Kubernetes is longer. */
export const attributeLengthMax = 4_096;

/** Names of server groups, containers, load balancers, ports, volumes, namespaces. */
export const nameRule: TextRule = {
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  shown: '^[a-z0-9]+([-a-z0-9]*[a-z0-9])?$',
};
/** Names of secrets, claims and config maps. */
export const secretNameRule: TextRule = {
  pattern: /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/,
  shown: '^[a-z0-9]+([-\\.a-z0-9]*[a-z0-9])?$',
};
/** Applications and stacks. */
export const applicationRule: TextRule = { pattern: /^[a-z0-9]+$/, shown: '^[a-z0-9]+$' };
/** Absolute paths of Linux or Windows. */
export const pathRule: TextRule = {
  pattern: /^(\/|[a-zA-Z]:(\\|\/)).*$/,
  shown: '^\\/.*$ or ^[a-zA-Z]:(\\\\|\\/).*$',
};
/** Relative paths. */
export const relativePathRule: TextRule = {
  pattern: /^(?!\/|[a-zA-Z]:(\\|\/)).*$/,
  shown: '^[^\\/].*$',
};
/** Paths of URLs. */
export const httpPathRule: TextRule = { pattern: /^\/.*$/, shown: '^\\/.*$' };
/** Amounts of cpu and memory. */
export const quantityRule: TextRule = {
  pattern: /^[+-]?[0-9.]+[eEimkKMGTP]*[-+]?[0-9]*$/,
  shown: '^([+-]?[0-9.]+)([eEimkKMGTP]*[-+]?[0-9]*)$',
};

/** Collects what is wrong with one description, in Spinnaker's codes: `<prefix>.<attribute>.<code>`. */
export class AttributeRules extends Violations {
  readonly #prefix: string;
  readonly #namespaces: readonly string[];
  readonly #sourceNamespaces: readonly string[];

  /**
   * @param prefix Spinnaker's name of the description, which begins each message
   * @param namespaces the only ones that the account may use; empty for all, or while they are not known
   * @param sourceNamespaces those of the account that is read from. Default: the same
   */
  constructor(prefix: string, namespaces: readonly string[], sourceNamespaces = namespaces) {
    super();
    this.#prefix = prefix;
    this.#namespaces = namespaces;
    this.#sourceNamespaces = sourceNamespaces;
  }

  /** An attribute is wrong: `capacity` is `empty`. @param other a further attribute that the code ends with */
  reject(attribute: string, code: string, other?: string): void {
    const suffix = other === undefined ? '' : ` ${this.#prefix}.${other}`;
    this.add(formatCode(this.#prefix, attribute, code) + suffix);
  }

  /** Rejects a missing value, and returns whether it is present. An empty text or list is missing. */
  checkPresent(value: unknown, attribute: string): boolean {
    const isEmpty = value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
    if (isEmpty) this.reject(attribute, 'empty');
    return !isEmpty;
  }

  /** Rejects a text that breaks a rule; a missing one is fine. */
  checkText(value: string | undefined, attribute: string, rule: TextRule): void {
    if (value === undefined || value === '') return;
    if (value.length > attributeLengthMax || !rule.pattern.test(value))
      this.reject(attribute, `invalid (Must match ${rule.shown})`);
  }

  /** Rejects a text that is missing or breaks a rule. */
  requireText(value: string | undefined, attribute: string, rule: TextRule): void {
    if (this.checkPresent(value, attribute)) this.checkText(value, attribute, rule);
  }

  /** Rejects a text that is not in a list; a missing one is fine. */
  checkOneOf(value: string | undefined, attribute: string, known: readonly string[]): void {
    if (value === undefined || value === '' || known.includes(value)) return;
    this.reject(attribute, `invalid (Must be one of [${known.join(', ')}])`);
  }

  /** Rejects a number outside inclusive bounds; a missing one is fine. */
  checkRange(value: number | undefined, attribute: string, [min, max]: readonly [number, number]): void {
    if (value === undefined || (value >= min && value <= max)) return;
    this.reject(attribute, `invalid (Must be in range [${min}, ${max}])`);
  }

  /** Calls `check` with each item of a list and its path: `container[0]`. */
  checkEach<T>(
    list: readonly T[],
    attribute: string,
    check: (item: T, at: string, rules: this) => void,
  ): void {
    for (const [index, item] of list.entries()) check(item, `${attribute}[${index}]`, this);
  }

  /** Rejects an invalid port. */
  checkPort(value: number | undefined, attribute: string): void {
    this.checkRange(value, attribute, [1, 65_535]);
  }

  /** Rejects a number below 0; a missing one is fine. */
  checkNotNegative(value: number | undefined, attribute: string): void {
    if (value !== undefined && value < 0) this.reject(attribute, 'negative');
  }

  /** Rejects 0 and negative numbers; a missing one is fine. */
  checkPositive(value: number | undefined, attribute: string): void {
    if (value !== undefined && value <= 0) this.reject(attribute, 'notPositive');
  }

  /** Rejects an invalid namespace, and one that the account may not use; none means `default`, which is checked later. */
  checkNamespace(value: string | undefined): void {
    this.#checkNamespace(value, 'namespace', this.#namespaces);
  }

  /** The same for a namespace that is read from. */
  checkSourceNamespace(value: string | undefined): void {
    this.#checkNamespace(value, 'source.namespace', this.#sourceNamespaces);
  }

  #checkNamespace(value: string | undefined, attribute: string, namespaces: readonly string[]): void {
    this.checkText(value, attribute, nameRule);
    if (!value || namespaces.length === 0 || namespaces.includes(value)) return;
    this.reject(attribute, 'notRegistered');
  }
}

/** A violation in Spinnaker's form. @param prefix Spinnaker's name of the description */
export function formatCode(prefix: string, attribute: string, code: string): string {
  return `${prefix}.${attribute}.${code}`;
}
