import { readEnvironment } from '../config.ts';
import { Services } from './services.ts';

let ofProcess: Services | undefined;

/**
 * The services of this process, by its own environment: what functions in Lambda use. Whatever else outlives a call in a module of
 * `shared/` is the same for every installation.
 */
export function getProcessServices(): Services {
  ofProcess ??= new Services(readEnvironment());
  return ofProcess;
}
