import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** An answer, whole. */
export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Where to call, and as whom. */
export interface Door {
  readonly url: string;
  readonly ownerKey: string;
}

/** A caller with so many connections, kept open. */
export class Caller {
  readonly #door: Door;
  readonly #agent: Agent;

  constructor(door: Door, connections = 4) {
    this.#door = door;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** @throws when no whole answer arrives. */
  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    const { url, ownerKey } = this.#door;
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${ownerKey}`,
      ...(payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
    };
    return await new Promise<Answer>((resolve, reject) => {
      const sent = request(`${url}${path}`, { method, headers, agent: this.#agent, timeout: 20_000 }, (response) => {
        const answer = text(response).then((content) => {
          if (!response.complete) throw new Error('the answer broke off');
          return { status: response.statusCode ?? 0, body: content === '' ? {} : JSON.parse(content) };
        });
        answer.then(resolve, reject);
      });
      sent.on('error', reject);
      sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
      sent.end(payload);
    });
  }

  /** Runs a row. @returns the id of its receipt. @throws Error when it does not answer 200. */
  async run(key: string, body = ''): Promise<string> {
    const answer = await this.send('POST', '/api/dispatch', { key, body });
    if (answer.status === 200) return (answer.body.proof as { invocation_id: string }).invocation_id;
    throw new Error(`${key} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }

  /** Writes a row. @throws Error when it is not new or not valid. */
  async add(row: { readonly key: string; readonly type: string; readonly target: string }): Promise<void> {
    const defaults = {
      category: 'test',
      examples: ['x'],
      content: `# WHAT: ${row.key} of a test.\n# ARGS: $1+=text (anything)\n["$1+"]`,
    };
    const answer = await this.send('POST', '/api/directory', { ...defaults, ...row });
    if (answer.status !== 201) throw new Error(`${row.key} was not added: ${JSON.stringify(answer.body)}`);
  }

  async isConfirmed(invocationId: string): Promise<boolean> {
    const { status, body } = await this.send('GET', `/api/dispatch?confirm=${invocationId}`);
    return status === 200 && body.confirmed === true;
  }

  /** Tries again until it works. @throws what failed last, after `limitMs`. */
  async eventually<T>(work: () => Promise<T>, limitMs = 20_000): Promise<T> {
    const until = performance.now() + limitMs;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (performance.now() > until) throw error;
        await sleep(50);
      }
    }
  }

  close(): void {
    this.#agent.destroy();
  }
}
