import type { Log } from '@rowcall/protocol';
import { onStopSignal } from './signals.js';

/** A stop that takes longer, in ms, is hung: the process ends as it is. */
const STOP_MS_MAX = 20_000;

/**
 * Stops the process in order at SIGTERM, SIGINT, SIGHUP, or when the process that started it is gone. A second request
 * by signal skips the grace, and so does a stop that hangs.
 * @param work what has to end first.
 * @returns stops for another reason, with an exit code.
 */
export function onStop(log: Log, work: () => Promise<void>): (exitCode: number) => Promise<never> {
  let stopping: Promise<never> | undefined;
  const stop = async (exitCode: number): Promise<never> => {
    setTimeout(() => {
      log.error({}, 'the stop hung');
      process.exit(exitCode || 1);
    }, STOP_MS_MAX).unref();
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
