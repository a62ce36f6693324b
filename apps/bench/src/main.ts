import { ASK_HELP } from './ask/options.js';
import { runAsk } from './ask/run.js';
import { DISPATCH_HELP } from './dispatch/options.js';
import { runDispatch } from './dispatch/run.js';
import { FUZZ_ASK_HELP } from './fuzz-ask/options.js';
import { runFuzzAsk } from './fuzz-ask/run.js';
import { HTTP_HELP } from './http/options.js';
import { runHttp } from './http/run.js';
import { IMPORT_HELP } from './import/options.js';
import { runImport } from './import/run.js';
import { LEDGER_HELP } from './ledger/options.js';
import { runLedger } from './ledger/run.js';
import { PROPAGATE_HELP } from './propagate/options.js';
import { runPropagate } from './propagate/run.js';
import { RENDER_HELP } from './render/options.js';
import { runRender } from './render/run.js';
import { say } from './report.js';
import { RETRIEVAL_HELP } from './retrieval/options.js';
import { runRetrieval } from './retrieval/run.js';

const BENCHES = {
  ask: { run: runAsk, help: ASK_HELP },
  dispatch: { run: runDispatch, help: DISPATCH_HELP },
  'fuzz-ask': { run: runFuzzAsk, help: FUZZ_ASK_HELP },
  http: { run: runHttp, help: HTTP_HELP },
  import: { run: runImport, help: IMPORT_HELP },
  ledger: { run: runLedger, help: LEDGER_HELP },
  propagate: { run: runPropagate, help: PROPAGATE_HELP },
  render: { run: runRender, help: RENDER_HELP },
  retrieval: { run: runRetrieval, help: RETRIEVAL_HELP },
} as const;

/** Exit code of a wrong command line: EX_USAGE of sysexits.h. */
const EXIT_USAGE = 64;

async function main([name = '', ...args]: readonly string[]): Promise<number> {
  const help = Object.values(BENCHES)
    .map((bench) => bench.help)
    .join('\n\n');
  const bench = Object.entries(BENCHES).find(([benchName]) => benchName === name)?.[1];
  if (bench === undefined || args.includes('--help')) {
    say(bench?.help ?? help);
    return bench === undefined && name !== '--help' ? EXIT_USAGE : 0;
  }
  return bench.run(args);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
}
