import type { Logger } from '#core/logger.ts';
import type { AgentConfig } from './agent-config.ts';

/** Tells what of the file does nothing, and what of it makes the agent less safe: one line each. */
export function tellConfig({ keys, tls, accounts }: AgentConfig, log: Logger): void {
  for (const sentence of keys.unused) log.info(sentence);
  for (const sentence of keys.unknown) log.warn(sentence);
  if (tls.skipsVerification) {
    log.warn('clouddriver.tls.insecureSkipVerify: a man in the middle can pretend to be Busdriver');
  }
  for (const { name, insecure, permissions } of accounts) {
    if (insecure) {
      log.warn('insecure: a man in the middle can pretend to be the API server', { account: name });
    }
    if (permissions !== undefined) {
      log.info("permissions: Busdriver's definition of the account says who may use it", { account: name });
    }
  }
}
