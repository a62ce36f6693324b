import { once } from 'node:events';
import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { vi } from 'vitest';
import { OWNER_KEY } from './test-api.js';

/** A server-sent event as a client sees it. */
export interface ReceivedEvent {
  readonly id: number;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>> & { readonly reason: string | null };
}

/** A client of /api/events on a real connection. */
export interface EventClient {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Everything received so far. */
  readonly text: () => string;
  readonly events: () => ReceivedEvent[];
  /** Waits until an event with that reason has come. */
  until(reason: string): Promise<void>;
  /** Whether the server has ended the answer, in order or not. */
  readonly isEnded: () => boolean;
  /** Takes nothing more of the connection. */
  pause(): void;
  /** Goes away. */
  leave(): void;
}

function parse(text: string): ReceivedEvent[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('id: '))
    .map((frame) => {
      const fields = Object.fromEntries(frame.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
      return { id: Number(fields.id), event: fields.event, data: JSON.parse(fields.data) };
    });
}

/** Opens a stream, as the owner unless the headers say otherwise. Returns when the answer has begun. */
export async function openEvents(
  address: string,
  { query = '', headers = {} }: { query?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<EventClient> {
  const request = get(`${address}/api/events${query}`, {
    agent: false,
    headers: { accept: 'text/event-stream', authorization: `Bearer ${OWNER_KEY}`, ...headers },
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  let text = '';
  let isEnded = false;
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  response.on('close', () => {
    isEnded = true;
  });
  // Whole frames only: the last may still be under way.
  const events = () => parse(text.slice(0, text.lastIndexOf('\n\n') + 2));
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: () => text,
    events,
    until: async (reason) => {
      await vi.waitUntil(() => events().some(({ data }) => data.reason === reason), { timeout: 10_000, interval: 2 });
    },
    isEnded: () => isEnded,
    pause: () => void response.pause(),
    leave: () => void request.destroy(),
  };
}
