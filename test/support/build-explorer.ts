import { createHash, hash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { joinedText } from '../../src/explorer/joined.ts'
import { pagePaths } from '../../src/explorer/paths.ts'
import { present } from '../../src/lib/assert.ts'
import { explorerDocuments, writeExplorerDocuments } from './explorer-documents.ts'
import { checkout } from './generate.ts'

/** Bundles the explorer into `dist/explorer` if the bundle is missing or out of date, with compressed forms of each file. */

/** The bundle depends on these sources and packages alone. */
const inputs = ['src/explorer', 'src/client', 'docs/examples', 'schema.graphql'] as const
const packages = ['preact', '@preact/signals', 'uplot', '@noble/hashes', 'lean-qr', 'vite'] as const
const target = 'dist/explorer'

/** The folder in `dist/explorer` for files whose names contain a hash of their content. */
const hashed = 'explorer'

/** Builds the explorer. Prints nothing if the bundle is up to date. */
export async function buildExplorer({ root, say } = checkout): Promise<void> {
  const stamp = join(root, target, 'inputs.sha256')
  const inputHash = hashOfInputs(root)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === inputHash) return
  const startedMs = performance.now()
  say('Building the explorer from src/explorer …\n')
  writeExplorerDocuments(root)
  // Builds in another folder and renames it, because another process may read or build the same files.
  const folder = join(root, `${target}.${process.pid}`)
  await bundle(root, folder)
  insertTheme(root, folder)
  writeFileSync(join(folder, 'pages.json'), JSON.stringify(pagePaths))
  writeFileSync(join(folder, 'documents.json'), JSON.stringify(textsOf(explorerDocuments(root))))
  compress(folder)
  writeFileSync(join(folder, 'inputs.sha256'), inputHash)
  rmSync(join(root, target), { recursive: true, force: true })
  renameSync(folder, join(root, target))
  say(`Built in ${((performance.now() - startedMs) / 1000).toFixed(1)} s.\n`)
}

/** Every document text that the explorer sends. It sends the document of the frame alone, and joined with the first page. */
function textsOf(documents: ReadonlyMap<string, string>): readonly string[] {
  const frame = present(documents.get('frame'), 'the document of the frame')
  const texts = [...documents.values()]
  const queries = texts.filter((text) => text.startsWith('query ') && text !== frame)
  return [...texts, ...queries.map((text) => joinedText(text, frame))]
}

function hashOfInputs(root: string): string {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const versions = { ...dependencies, ...devDependencies }
  const digest = createHash('sha256')
  for (const name of packages) digest.update(`${name} ${versions[name]}\n`)
  for (const input of inputs) {
    for (const file of filesOf(join(root, input))) digest.update(readFileSync(file)).update('\0')
  }
  for (const file of ['build-explorer.ts', 'explorer-documents.ts']) {
    digest.update(readFileSync(join(dirname(fileURLToPath(import.meta.url)), file)))
  }
  return digest.digest('hex')
}

function filesOf(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path]
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort()
  return names.map((name) => join(path, name)).filter((file) => statSync(file).isFile())
}

async function bundle(root: string, folder: string): Promise<void> {
  // Vite takes half a second to load; a start with a current bundle does not load it.
  const { build } = await import('vite')
  await build({
    configFile: false,
    root: join(root, 'src/explorer'),
    // All URLs are relative, because a proxy may add a path prefix.
    base: './',
    logLevel: 'warn',
    build: {
      outDir: folder,
      emptyOutDir: true,
      assetsDir: hashed,
      assetsInlineLimit: 0,
      target: 'es2023',
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  })
}

/** Inserts the script that sets the chosen theme before the first paint; a module would run too late. */
function insertTheme(root: string, folder: string): void {
  const text = readFileSync(join(root, 'src/explorer/theme.js'))
  const name = `${hashed}/theme-${hash('sha256', text, 'base64url').slice(0, 8)}.js`
  writeFileSync(join(folder, name), text)
  const page = join(folder, 'index.html')
  const html = readFileSync(page, 'utf8')
  writeFileSync(page, html.replace('<!-- theme -->', `<script src="./${name}"></script>`))
}

function compress(folder: string): void {
  mkdirSync(join(folder, hashed), { recursive: true })
  for (const name of readdirSync(join(folder, hashed))) {
    const file = join(folder, hashed, name)
    const bytes = readFileSync(file)
    writeFileSync(`${file}.br`, brotliCompressSync(bytes))
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  }
}
