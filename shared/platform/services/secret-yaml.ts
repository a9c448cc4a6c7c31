import { parse } from 'yaml';

/** Reads the YAML of a secret. @throws Error for another text, whose message may quote it */
export function parseSecretYaml(text: string): unknown {
  return parse(text);
}
