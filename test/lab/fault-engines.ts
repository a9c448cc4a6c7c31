import { subscribe } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '#core/json.ts';
import type { DirectCall, Perform } from '#infra/local/engines/direct-client.ts';
import type { LocalEngines } from '#infra/local/local-engines.ts';
import { type EngineCall, findBatch, toRefusal } from './engine-call.ts';
import { EngineFaults } from './engine-faults.ts';

/**
 * Preloaded into `npm start` (`node --import`): has calls of its own engines go wrong as the laboratory's proxy does with those over sockets. The
 * faults begin with the signal SIGUSR2 and end with the next one. `LAB_SEED` says what goes wrong, `LAB_FAULT_SHARE` how often, from 0 to 1.
 */
const { LAB_SEED: seed = '1', LAB_FAULT_SHARE: share = '0.06' } = process.env;
const faults = new EngineFaults({ seed: Number(seed), share: Number(share), silences: [] });
let areOn = false;

subscribe('busdriver:engines', (message) => {
  (message as LocalEngines).hook.around = pass;
});

process.on('SIGUSR2', () => {
  areOn = !areOn;
  if (areOn) faults.begin();
  else {
    faults.end();
    process.stderr.write(`faults: ${JSON.stringify([...faults.counts])}\n`);
  }
});

async function pass({ service, action, input }: DirectCall, perform: Perform): Promise<object> {
  // Commands hold what goes over the wire as JSON.
  const call: EngineCall = { service, action, input: input as JsonObject };
  const fault = faults.draw(call);
  switch (fault?.type) {
    case undefined:
      return perform();
    case 'lost call':
      throw reset();
    case 'lost answer':
      await perform();
      throw reset();
    case 'late execution':
      setTimeout(() => void perform().catch(() => undefined), fault.ms).unref();
      throw reset();
    case 'throttle':
    case 'error':
      throw refuse(service, fault.type);
    case 'delay':
      await sleep(fault.ms);
      return perform();
    case 'part of a batch':
      return performPart(call, perform);
  }
}

async function performPart(call: EngineCall, perform: Perform): Promise<object> {
  const batch = findBatch(call);
  const isKept = (index: number) => index % 2 === 1;
  if (batch === undefined) return perform();
  const kept = batch.parts.filter((_, index) => isKept(index));
  if (kept.length === 0) throw refuse(call.service, 'throttle');
  const output = await perform(batch.take(isKept).input);
  return batch.addRefused(isJsonObject(output) ? output : {}, isKept);
}

function reset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

function refuse(service: DirectCall['service'], reason: 'throttle' | 'error'): Error {
  const { status, body } = toRefusal(service, reason);
  const name = String(body['__type']).split('#')[1] ?? '';
  const $fault = status >= 500 ? 'server' : 'client';
  return Object.assign(new Error(String(body['message'])), { name, $fault });
}
