import { ConfigError } from '@rowcall/config';

/** Exit code of a bad configuration: EX_CONFIG of sysexits.h. */
const EXIT_CONFIG = 78;

/** Runs a process's main function. A bad configuration ends it with its problems and nothing else; a defect ends it loudly. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT_CONFIG);
  }
}
