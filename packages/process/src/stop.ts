import type { Log } from '@rowcall/protocol';
import { onStopSignal } from './signals.js';

/**
 * Stops the process in order at SIGTERM, SIGINT, SIGHUP, or when the process that started it is gone. A second request
 * by signal skips the grace.
 * @param work what has to end first.
 * @returns stops for another reason, with an exit code.
 */
export function onStop(log: Log, work: () => Promise<void>): (exitCode: number) => Promise<never> {
  let stopping: Promise<never> | undefined;
  const stop = async (exitCode: number): Promise<never> => {
    try {
      await work();
    } catch (error) {
      log.error({ err: error }, 'the stop did not go in order');
      process.exit(exitCode || 1);
    }
    process.exit(exitCode);
  };
  const begin = (reason: string) => {
    if (stopping !== undefined) return;
    log.info({ reason }, 'stopping');
    stopping = stop(0);
  };
  onStopSignal({
    onFirst: begin,
    onFurther: (signal) => {
      log.warn({ reason: signal }, 'stopping at once');
      process.exit(1);
    },
  });
  process.on('disconnect', () => begin('the starting process ended'));
  return (exitCode) => {
    stopping ??= stop(exitCode);
    return stopping;
  };
}
