import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network between an agent and Busdriver, which can lose all that passes. Disposing closes it. */
export interface Link extends AsyncDisposable {
  readonly url: string;
  part(): void;
  /** What was held back goes on, as TCP sends again what was lost. */
  heal(): void;
}

/** Opens it on a free port of 127.0.0.1. @param port of the server on 127.0.0.1 */
export async function startLink(port: number): Promise<Link> {
  const wires = new Set<Wire>();
  let isParted = false;
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) => {
    const wire = new Wire(near, port);
    wires.add(wire);
    near.once('close', () => {
      if (!isParted) wires.delete(wire);
    });
    if (!isParted) wire.open();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    part() {
      isParted = true;
      for (const wire of wires) wire.hold();
    },
    heal() {
      isParted = false;
      for (const wire of wires) wire.open();
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const wire of wires) wire.destroy();
      await closed;
    },
  };
}

/** One connection, in its two halves. */
class Wire {
  readonly #near: Socket;
  readonly #port: number;
  #far: Socket | undefined;
  #isHeld = true;

  constructor(near: Socket, port: number) {
    this.#near = near;
    this.#port = port;
    this.#watch(near);
  }

  open(): void {
    this.#isHeld = false;
    if (this.#far === undefined) {
      this.#far = connect({ port: this.#port, host: '127.0.0.1', allowHalfOpen: true });
      this.#watch(this.#far);
    }
    this.#near.pipe(this.#far);
    this.#far.pipe(this.#near);
    if (this.#near.destroyed || this.#far.destroyed) this.destroy();
  }

  hold(): void {
    this.#isHeld = true;
    for (const socket of [this.#near, this.#far]) socket?.unpipe().pause();
  }

  destroy(): void {
    this.#near.destroy();
    this.#far?.destroy();
  }

  #watch(socket: Socket): void {
    socket
      .on('error', () => undefined)
      .once('close', () => {
        if (!this.#isHeld) this.destroy();
      });
  }
}
