import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Compiles programs of the tests with the compiler settings of the product, and returns the output folder, which has the layout
 * of the tree. Benchmarks measure the compiled program, because users install that.
 */
export function compile(name: string, files: readonly string[]): URL {
  const root = new URL('../../', import.meta.url)
  const out = new URL(`node_modules/.cache/ledger-gateway/${name}/`, root)
  const inRoot = (path: string) => fileURLToPath(new URL(path, root))
  mkdirSync(out, { recursive: true })
  const config = fileURLToPath(new URL('tsconfig.json', out))
  const compilerOptions = {
    noEmit: false,
    // `npm run check` checks the types.
    noCheck: true,
    rootDir: inRoot('.'),
    outDir: fileURLToPath(out),
  }
  // No import leads to the modules of worker threads.
  const workers = globSync('src/**/*-worker.ts', { cwd: root })
  const settings = { extends: inRoot('tsconfig.json'), compilerOptions, include: [] }
  writeFileSync(config, JSON.stringify({ ...settings, files: [...files, ...workers].map(inRoot) }))
  execFileSync(inRoot('node_modules/.bin/tsc'), ['-p', config])
  for (const beside of ['prisma', 'package.json']) {
    const link = fileURLToPath(new URL(beside, out))
    if (!existsSync(link)) symlinkSync(inRoot(beside), link)
  }
  return out
}
