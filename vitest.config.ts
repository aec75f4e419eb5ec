import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { reportLostFiles } from './test/support/report-lost-files.ts'

const require = createRequire(import.meta.url)

export default defineConfig({
  // Without the alias the CommonJS and the ESM copy of graphql both load and refuse each other's types.
  resolve: { alias: { graphql: require.resolve('graphql/index.js') } },
  test: {
    // Whose tests these are, where a test needs just one database: `TEST_DATABASE`, by default SQLite.
    name: process.env.TEST_DATABASE ?? 'sqlite',
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/postgresql-setup.ts',
    reporters: ['default', reportLostFiles()],
    // One more than cores: many tests wait for slots and processes.
    maxWorkers: availableParallelism() + 1,
    // Files share the modules of their worker: to load them anew for each file took a seventh of all time.
    isolate: false,
    // A limit for tests that hang, not for slow machines.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 25_000 } },
  },
})
