import { defineConfig } from 'vitest/config';

const conditions = ['@rowcall/source'];
const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  // The global set-up runs from the sources as well.
  environments: { __vitest__: { resolve: { conditions } } },
};

/** Two projects: `pure` needs nothing, `db` gets a real Postgres from its global set-up. */
export default defineConfig({
  test: {
    projects: [
      {
        ...shared,
        test: {
          name: 'pure',
          sequence: { groupOrder: 0 },
          include: ['{apps,packages}/*/src/**/*.test.ts'],
          exclude: ['**/*.db.test.ts'],
        },
      },
      {
        ...shared,
        test: {
          name: 'db',
          sequence: { groupOrder: 1 },
          include: ['{apps,packages}/*/src/**/*.db.test.ts'],
          globalSetup: ['packages/testing/src/global-setup.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
    ],
  },
});
