import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** A run of tests tells by its exit code whether all of them passed, for nothing else is looked at by who runs it. */

const root = fileURLToPath(new URL('../..', import.meta.url))

test.each([
  ['all pass', 1, 0],
  ['one fails', 2, 1],
] as const)(
  'the code where %s',
  (_name, given, code) => {
    // Inside the checkout, so that its packages are found, and where no run looks for tests.
    const folder = mkdtempSync(join(root, 'node_modules', '.exit-code-'))
    const setup = join(root, 'test/support/postgresql-setup.ts')
    writeFileSync(
      join(folder, 'vitest.config.ts'),
      `export default { test: { include: ['*.check.ts'], globalSetup: ${JSON.stringify(setup)} } }`,
    )
    writeFileSync(
      join(folder, 'one.check.ts'),
      `import { expect, test } from 'vitest'\ntest('one', () => expect(${given}).toBe(1))`,
    )
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const run = spawnSync(process.execPath, [vitest, 'run', '--root', folder], { encoding: 'utf8' })
    rmSync(folder, { recursive: true })
    expect(run.stdout).toContain(code === 0 ? '1 passed' : '1 failed')
    expect(run.status).toBe(code)
  },
  60_000,
)
