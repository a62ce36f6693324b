import { setTimeout as sleep } from 'node:timers/promises';

const IMAGE = 'postgres:18';
/** How long, in ms, an engine may take to start the container, a pull included, before the tests do without. */
const START_TIMEOUT_MS = 60_000;

/** A Postgres that runs for the tests. */
export interface TestServer {
  /** Address of a superuser. */
  readonly superuserUrl: string;
  readonly what: string;
  stop(): Promise<void>;
}

/**
 * Starts Postgres in a container. A docker command is no engine, and an engine may be unable to pull: whatever fails
 * is the reason returned, so that the caller can say why it goes on without.
 */
export async function tryDocker(): Promise<TestServer | { readonly unavailable: string }> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const container = new GenericContainer(IMAGE)
    .withEnvironment({ POSTGRES_PASSWORD: 'test' })
    .withExposedPorts(5432)
    .withCommand(['postgres', '-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'max_connections=300'])
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .withStartupTimeout(START_TIMEOUT_MS);
  const abort = new AbortController();
  try {
    const late = sleep(START_TIMEOUT_MS, undefined, { signal: abort.signal }).catch(() => undefined);
    const started = await Promise.race([container.start(), late]);
    if (started === undefined) return { unavailable: `no container within ${START_TIMEOUT_MS / 1000} s` };
    const url = `postgres://postgres:test@${started.getHost()}:${started.getMappedPort(5432)}/postgres`;
    return { superuserUrl: url, what: `${IMAGE} in a container`, stop: async () => void (await started.stop()) };
  } catch (error) {
    return { unavailable: (error as Error).message.split('\n')[0] ?? 'unknown reason' };
  } finally {
    abort.abort();
  }
}
