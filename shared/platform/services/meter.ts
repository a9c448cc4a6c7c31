import type { MeasureLabels, MeasureName, Meter } from '#core/meter.ts';
import type { Services } from './services.ts';

/** The meter of an installation, which measures nothing until a program that shows its metrics binds one. */
export class MeterPort implements Meter {
  #meter: Meter | undefined;

  /** Has another meter take what is measured from now on. */
  bind(meter: Meter): void {
    this.#meter = meter;
  }

  record<N extends MeasureName>(name: N, labels: MeasureLabels<N>, value?: number): void {
    this.#meter?.record(name, labels, value);
  }
}

/** The meter of an installation. */
export function openMeter(services: Services): MeterPort {
  return services.get(createMeter);
}

function createMeter(): MeterPort {
  return new MeterPort();
}
